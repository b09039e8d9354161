/* SPDX-License-Identifier: Apache-2.0 */
/* void cohort__fiber_asm_swap(void **save, void *load); see struct frame in fiber_asm.c. The CFA
 * (canonical frame address) is described relative to rsp. The frames on both stacks have the same
 * layout, so the CFA is right before and after the change of stacks. Loading the floating point
 * control words takes longer than all the rest. So it is left out if both fibers have the same
 * ones, as is usual. mxcsr's status flags are not compared, since no call preserves them. There is
 * no endbr64 and no property note. Without the note, the linker asks for neither branch tracking
 * nor a shadow stack, with which this code would not work. */
    .text
    .globl cohort__fiber_asm_swap
    .hidden cohort__fiber_asm_swap
    .type cohort__fiber_asm_swap, @function
    .p2align 4
cohort__fiber_asm_swap:
    .cfi_startproc
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    pushq %rbx
    .cfi_def_cfa_offset 24
    .cfi_offset %rbx, -24
    pushq %r12
    .cfi_def_cfa_offset 32
    .cfi_offset %r12, -32
    pushq %r13
    .cfi_def_cfa_offset 40
    .cfi_offset %r13, -40
    pushq %r14
    .cfi_def_cfa_offset 48
    .cfi_offset %r14, -48
    pushq %r15
    .cfi_def_cfa_offset 56
    .cfi_offset %r15, -56
    subq $8, %rsp
    .cfi_def_cfa_offset 64
    stmxcsr (%rsp)
    fnstcw 4(%rsp)
    movl (%rsp), %eax
    movzwl 4(%rsp), %ecx
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    xorl (%rsp), %eax
    testl $0xffc0, %eax
    jne 2f
    cmpw 4(%rsp), %cx
    jne 2f
1:  addq $8, %rsp
    .cfi_def_cfa_offset 56
    popq %r15
    .cfi_restore %r15
    .cfi_def_cfa_offset 48
    popq %r14
    .cfi_restore %r14
    .cfi_def_cfa_offset 40
    popq %r13
    .cfi_restore %r13
    .cfi_def_cfa_offset 32
    popq %r12
    .cfi_restore %r12
    .cfi_def_cfa_offset 24
    popq %rbx
    .cfi_restore %rbx
    .cfi_def_cfa_offset 16
    popq %rbp
    .cfi_restore %rbp
    .cfi_def_cfa_offset 8
    ret
    .cfi_def_cfa_offset 64
    .cfi_offset %rbp, -16
    .cfi_offset %rbx, -24
    .cfi_offset %r12, -32
    .cfi_offset %r13, -40
    .cfi_offset %r14, -48
    .cfi_offset %r15, -56
2:  ldmxcsr (%rsp)
    fldcw 4(%rsp)
    jmp 1b
    .cfi_endproc
    .size cohort__fiber_asm_swap, .-cohort__fiber_asm_swap

/* The first frame of a fiber returns to this place, which calls r12 with the argument r13. A
 * backtrace ends here. */
    .globl cohort__fiber_asm_entry
    .hidden cohort__fiber_asm_entry
    .type cohort__fiber_asm_entry, @function
    .p2align 4
cohort__fiber_asm_entry:
    .cfi_startproc
    .cfi_undefined %rip
    xorl %ebp, %ebp
    movq %r13, %rdi
    call *%r12
    ud2
    .cfi_endproc
    .size cohort__fiber_asm_entry, .-cohort__fiber_asm_entry

    .section .note.GNU-stack, "", @progbits
