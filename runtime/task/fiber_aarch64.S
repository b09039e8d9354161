/* SPDX-License-Identifier: Apache-2.0 */
/* void cohort__fiber_asm_swap(void **save, void *load); see struct frame in fiber_asm.c. The CFA
 * (canonical frame address) is described relative to sp. The frames on both stacks have the same
 * layout, so the CFA is right before and after the change of stacks. */
    .text
    .globl cohort__fiber_asm_swap
    .hidden cohort__fiber_asm_swap
    .type cohort__fiber_asm_swap, %function
    .p2align 4
cohort__fiber_asm_swap:
    .cfi_startproc
    sub sp, sp, #176
    .cfi_def_cfa_offset 176
    stp d8, d9, [sp, #16]
    stp d10, d11, [sp, #32]
    stp d12, d13, [sp, #48]
    stp d14, d15, [sp, #64]
    stp x19, x20, [sp, #80]
    stp x21, x22, [sp, #96]
    stp x23, x24, [sp, #112]
    stp x25, x26, [sp, #128]
    stp x27, x28, [sp, #144]
    stp x29, x30, [sp, #160]
    .cfi_offset 72, -160
    .cfi_offset 73, -152
    .cfi_offset 74, -144
    .cfi_offset 75, -136
    .cfi_offset 76, -128
    .cfi_offset 77, -120
    .cfi_offset 78, -112
    .cfi_offset 79, -104
    .cfi_offset x19, -96
    .cfi_offset x20, -88
    .cfi_offset x21, -80
    .cfi_offset x22, -72
    .cfi_offset x23, -64
    .cfi_offset x24, -56
    .cfi_offset x25, -48
    .cfi_offset x26, -40
    .cfi_offset x27, -32
    .cfi_offset x28, -24
    .cfi_offset x29, -16
    .cfi_offset x30, -8
    mrs x2, fpcr
    str x2, [sp]
    mov x3, sp
    str x3, [x0]
    mov sp, x1
    ldr x2, [sp]
    msr fpcr, x2
    ldp d8, d9, [sp, #16]
    ldp d10, d11, [sp, #32]
    ldp d12, d13, [sp, #48]
    ldp d14, d15, [sp, #64]
    ldp x19, x20, [sp, #80]
    ldp x21, x22, [sp, #96]
    ldp x23, x24, [sp, #112]
    ldp x25, x26, [sp, #128]
    ldp x27, x28, [sp, #144]
    ldp x29, x30, [sp, #160]
    add sp, sp, #176
    .cfi_def_cfa_offset 0
    .cfi_restore 72
    .cfi_restore 73
    .cfi_restore 74
    .cfi_restore 75
    .cfi_restore 76
    .cfi_restore 77
    .cfi_restore 78
    .cfi_restore 79
    .cfi_restore x19
    .cfi_restore x20
    .cfi_restore x21
    .cfi_restore x22
    .cfi_restore x23
    .cfi_restore x24
    .cfi_restore x25
    .cfi_restore x26
    .cfi_restore x27
    .cfi_restore x28
    .cfi_restore x29
    .cfi_restore x30
    ret
    .cfi_endproc
    .size cohort__fiber_asm_swap, .-cohort__fiber_asm_swap

/* The first frame of a fiber returns to this place, which calls x19 with the argument x20. A
 * backtrace ends here. */
    .globl cohort__fiber_asm_entry
    .hidden cohort__fiber_asm_entry
    .type cohort__fiber_asm_entry, %function
    .p2align 4
cohort__fiber_asm_entry:
    .cfi_startproc
    .cfi_undefined x30
    mov x29, xzr
    mov x0, x20
    blr x19
    brk #0
    .cfi_endproc
    .size cohort__fiber_asm_entry, .-cohort__fiber_asm_entry

    .section .note.GNU-stack, "", %progbits
