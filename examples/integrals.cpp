/* SPDX-License-Identifier: Apache-2.0 */
/* Integrals by tasks, in C++20. The class future carries a value of any type from a task to whoever
 * waits for it, or the exception that has ended it: none may leave a task by itself. */
#include <cmath>
#include <concepts>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <numbers>
#include <optional>
#include <stdexcept>
#include <utility>

#include <cohort/cohort.h>

/* A call that runs as a task. Whoever lets go of it waits for its end, since it may refer to what
 * is on the stack there. */
template <typename Value> class future
{
  public:
    template <std::invocable Function>
    explicit future(Function function)
        : call(std::make_unique<struct call>(std::move(function))),
          task(cohort_async(run, call.get()))
    {
    }
    future(future &&other) noexcept
        : call(std::move(other.call)), task(std::exchange(other.task, nullptr))
    {
    }
    ~future()
    {
        if (task)
            (void)!cohort_await(task);
    }

    /* Once. */
    Value get()
    {
        cohort_status status = cohort_await(std::exchange(task, nullptr));
        if (call->error)
            std::rethrow_exception(call->error);
        if (status) /* it has not run */
            throw std::runtime_error(cohort_error_message());
        return std::move(*call->value);
    }

  private:
    struct call {
        std::function<Value()> function;
        std::optional<Value> value;
        std::exception_ptr error;
        explicit call(std::function<Value()> function) : function(std::move(function))
        {
        }
    };

    static cohort_status run(void *arg) noexcept
    {
        auto *call = static_cast<struct call *>(arg);
        try {
            call->value = call->function();
        } catch (...) {
            call->error = std::current_exception();
            return COHORT_ERR_FAILED;
        }
        return COHORT_OK;
    }

    std::unique_ptr<struct call> call;
    cohort_future *task;
};

using real_function = double(double);

static double simpson(real_function *function, double from, double to)
{
    return (to - from) / 6 * (function(from) + 4 * function((from + to) / 2) + function(to));
}

/* Halves what is not exact enough. */
static double integrate(real_function *function, double from, double to, double tolerance)
{
    double middle = (from + to) / 2, whole = simpson(function, from, to),
           halves = simpson(function, from, middle) + simpson(function, middle, to);
    if (std::abs(halves - whole) < 15 * tolerance)
        return halves + (halves - whole) / 15;
    future<double> left([=] { return integrate(function, from, middle, tolerance / 2); });
    double right = integrate(function, middle, to, tolerance / 2);
    return left.get() + right;
}

static double reciprocal(double x)
{
    if (std::abs(x) < 1e-9)
        throw std::domain_error("a pole");
    return 1 / x;
}

static void print(const char *what, real_function *function, double from, double to)
{
    std::printf("%s from %g to %g: ", what, from, to);
    try {
        std::printf("%.9f\n", integrate(function, from, to, 1e-10));
    } catch (const std::domain_error &error) {
        std::printf("%s\n", error.what());
    }
}

static cohort_status program(void *)
{
    print(
        "sin x", [](double x) { return std::sin(x); }, 0, std::numbers::pi);
    print(
        "sqrt x", [](double x) { return std::sqrt(x); }, 0, 1);
    print("1/x", reciprocal, 1, std::numbers::e);
    print("1/x", reciprocal, -1, 1);
    return COHORT_OK;
}

int main(int argc, char **argv)
{
    return cohort_main(argc, argv, program, nullptr);
}
