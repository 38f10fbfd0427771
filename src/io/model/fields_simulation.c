/* The keys of "simulation"; see fields.c. */
#include <math.h>
#include <stdint.h>

#include "io/model/fields.h"

static const poli_number_range zero_to_one = {0.0, 1.0, 0, "must be a number from 0 to 1",
                                              "0 to 1"};
static const poli_number_range vartheta_range = {
    0.0, 1.0, 0, "must be a number that is at least 0 and below 1", "0 to below 1"};
static const poli_number_range alpha_range = {-1.0 / 3.0, 0.0, 0, "must be a number from -1/3 to 0",
                                              "-1/3 to 0"};
static const poli_number_range above_zero_to_one = {
    0.0, 1.0, 1, "must be a number above 0, at most 1", "above 0, at most 1"};
static const poli_number_range from_zero = {
    0.0, INT32_MAX, 0, "must be a whole number from 0 to 2147483647", "0 to 2147483647"};
static const poli_number_range from_one = {
    1.0, INT32_MAX, 0, "must be a whole number from 1 to 2147483647", "1 to 2147483647"};
static const poli_number_range to_most_threads = {
    0.0, 256.0, 0, "must be a whole number from 0 to 256", "0 to 256"};
WORDS(steps, "fixed", "variable");
WORDS(initials, "given", "equilibrium");
NAMES(methods, number == pol_method_count()  ? "auto"
               : number < pol_method_count() ? pol_method_at(number)->name
                                             : NULL);
NAMES(formulations,
      number < pol_formulation_count() ? pol_formulation_name((pol_formulation_kind)number) : NULL);
NAMES(starts, pol_start_name((pol_start)number));
NAMES(published_newtons, pol_published_newton_name((pol_published_newton)number));
NAMES(sigma_updates, pol_sigma_update_name((pol_sigma_update)number));
NAMES(redundants, pol_redundant_name((pol_redundant)number));
NAMES(guesses, pol_guess_name((pol_guess)number));
NAMES(newton_kinds, pol_newton_kind_name((pol_newton_kind)number));
NAMES(newton_stops, pol_newton_stop_name((pol_newton_stop)number));
NAMES(solvers, pol_solver_kind_name((pol_solver_kind)number));
NAMES(controllers, pol_controller_name((pol_controller)number));
static const poli_choices estimates = {pol_published_estimate_name};

/* --- the simulation --------------------------------------------------------------------------- */

#define AT(member) offsetof(poli_model_simulation, member)
#define OPTION(member) AT(settings.options.member)

static const poli_field newton_fields[] = {
    {"kind", &poli_choice, OPTION(newton.kind), &newton_kinds, .standard = "\"modified\"",
     .help = "`full` (exact matrix in each iteration), `simplified` (without stiffness, damping "
             "and curvature), `modified` (exact matrix, kept while the iteration contracts well; "
             "`vi-s` to `rattle`: within a step)"},
    {"tolerance", &poli_number, OPTION(newton.tolerance), &poli_positive, .standard = "1e-10",
     .help = "below 1; relative tolerance of residual and correction"},
    {"max_iterations", &poli_integer, OPTION(newton.max_iterations), &from_one, .standard = "30",
     .help = "per step; at most 16 where a failed step can be repeated smaller"},
    {"refresh", &poli_number, OPTION(newton.refresh), &above_zero_to_one, .standard = "0.5",
     .help = "`modified`: contraction above which the matrix is evaluated again"},
    {"line_search", &poli_integer, OPTION(newton.line_search), &from_zero, .standard = "8",
     .help = "maximum number of halvings; 0: no line search"},
    {"fixed_iterations", &poli_integer, OPTION(newton.fixed_iterations), &from_zero,
     .standard = "0",
     .help = "[real time](methods.md#real-time): exactly so many iterations per step; 0: as many "
             "as the tolerance needs"},
    {"matrix_interval", &poli_integer, OPTION(newton.matrix_interval), &from_one, .standard = "1",
     .help = "`fixed_iterations`: number of steps with one matrix"},
    {"stop", &poli_choice, OPTION(newton.stop), &newton_stops, .standard = "\"error\"",
     .help =
         "`geom1` to `hht`: `error` (up to 1000 times the tolerance where the estimated error of "
         "the step hides the difference), `tight` (the tolerance as it is)"},
    {.key = NULL},
};

static const poli_kind newton_kind =
    KIND("newton", "must be an object of options for the Newton iteration", newton_fields,
         sizeof(poli_model_simulation),
         .schema = "{'properties': {'tolerance': {'exclusiveMaximum': 1}}}");

static const poli_field published_fields[] = {
    {"newton", &poli_choice, OPTION(published.newton), &published_newtons,
     .standard = "\"default\"",
     .help = "`plain`: exact matrix in each iteration, no line search; `vi-s` to `rattle`: "
             "`newton.tolerance` applies to the largest component of residual and correction, in "
             "SI units; other methods: starts from v' = 0 and lambda = 0, and `newton.tolerance` "
             "applies to the norm of the residual relative to its first value. `plain-modified`: "
             "not for `vi-s` to `rattle`; the same with a matrix that is kept from step to step"},
    {"exact_iterations", &poli_integer, OPTION(published.exact_iterations), &from_one,
     .help = "number of iterations in each step, converged or not"},
    {"sigma_update", &poli_choice, OPTION(published.sigma_update), &sigma_updates,
     .standard = "\"exact\"",
     .help = "`exact` solves the equations of sigma, `incremental` by the published "
             "algorithm with its predictor corrected, `printed` exactly as printed"},
    {"estimate", &poli_choice, OPTION(published.estimate), &estimates, .standard = "\"corrected\"",
     .help = "error estimate of variable steps: `printed` is exactly as published, see "
             "[methods](methods.md#steps-of-variable-size)"},
    {.key = NULL},
};

static const poli_kind published_kind =
    KIND("published", "must be an object of options to repeat published runs", published_fields,
         sizeof(poli_model_simulation));

static const poli_field tolerances_fields[] = {
    {"translation", &poli_number, AT(atol[0]), &poli_not_negative, NULL, POLI_ALWAYS, .unit = "m"},
    {"rotation", &poli_number, AT(atol[1]), &poli_not_negative, NULL, POLI_ALWAYS, .unit = "rad"},
    {.key = NULL},
};

const poli_kind poli_tolerances_kind =
    KIND("tolerances", "must be a number, or an object with \"translation\" and \"rotation\"",
         tolerances_fields, sizeof(poli_model_simulation));

static const poli_field control_fields[] = {
    {"first_step", &poli_number, OPTION(control.first_step), &poli_positive, .unit = "s",
     .standard = "estimated"},
    {"min_step", &poli_number, OPTION(control.min_step), &poli_positive, .unit = "s",
     .standard = "round-off",
     .help = "if the tolerances require a smaller step, the run fails and names the body"},
    {"max_step", &poli_number, OPTION(control.max_step), &poli_positive, .unit = "s",
     .standard = "none", .help = "at least `min_step`"},
    {"span", &poli_number, OPTION(control.span), &poli_positive, .unit = "s", .standard = "`end`",
     .help =
         "time that the first step and the accuracy of Newton's iterations are meant for; a run "
         "that will be continued to a later end, which it shall have the bits of, has that end "
         "here"},
    {"controller", &poli_choice, OPTION(control.controller), &controllers,
     .standard = "\"elementary\"",
     .help = "`elementary`; `pi`, which also uses the error of the previous step: fewer "
             "rejected steps, but more steps; or `reversible`, for long runs of `rattle` in "
             "`so3xr3` with constant energy: the first step is `step`, the others follow the "
             "kinetic energy, without `rtol` and `atol`"},
    {.key = NULL},
};

static const poli_kind control_kind =
    KIND("control", "must be an object of options for steps of variable size", control_fields,
         sizeof(poli_model_simulation), .check = poli_check_control);

static const poli_field output_fields[] = {
    {"step", &poli_number, AT(settings.output.step), &poli_positive, NULL, POLI_ALWAYS,
     .instead = "times", .missing = "a positive number, or \"times\"", .unit = "s",
     .help = "interval between rows"},
    {"times", &poli_times, AT(output_times), .not_beside = "step", .unit = "s",
     .help = "times of the rows: ascending, above 0, at most `end`"},
    {.key = NULL},
};

static const poli_kind output_kind = KIND("output", "must be an object with \"step\" or \"times\"",
                                          output_fields, sizeof(poli_model_simulation));

static const poli_field simulation_fields[] = {
    {"step", &poli_number, AT(settings.step), &poli_positive, .unit = "s",
     .standard = "required without `rtol` and `atol`",
     .help =
         "at most `end`; the last step is shortened if necessary; not used with variable steps"},
    {"end", &poli_number, AT(settings.end), &poli_positive, NULL, POLI_ALWAYS, .unit = "s",
     .help = "end time; the run starts at t = 0"},
    {"method", &poli_choice, AT(method), &methods, .standard = "\"auto\"",
     .help = "a method listed by `polhode methods`, or `auto`: chosen by the forces of the model "
             "and the steps, see [methods](methods.md#a-method-chosen-for-you); without `method`, "
             "`geom1` if one of `rho_inf`, `alpha_m` to `gamma`, `sigma` and `start` is given"},
    {"formulation", &poli_choice, AT(settings.formulation), &formulations,
     .standard = "`\"so3xr3\"`; `auto` chooses it", .help = "the coordinates of the bodies"},
    {"index", &poli_index, OPTION(index), .standard = "`3`; variable steps `\"stabilized-2\"`",
     .help = "`3` (constraints on positions), `2` (on velocities) or `\"stabilized-2\"` (both)"},
    {"rho_inf", &poli_number, AT(rho_inf), &zero_to_one, .standard = "`0.9`; variable steps `0.8`",
     .help = "spectral radius at infinite frequency: 1 is undamped, 0 is maximum damping"},
    {"alpha", &poli_number, AT(alpha), &alpha_range, .standard = "-0.3",
     .help = "of the method `hht`, whose `index` is 3 if not given"},
    {"alpha_m", &poli_number, OPTION(alpha_m), .standard = "from `rho_inf`",
     .help = "with `alpha_f`, `beta` and `gamma`, without `rho_inf`; a warning reports a loss of "
             "second order or of unconditional stability"},
    {"alpha_f", &poli_number, OPTION(alpha_f), .standard = "from `rho_inf`",
     .help = "with `alpha_m`, `beta` and `gamma`"},
    {"beta", &poli_number, OPTION(beta), .standard = "from `rho_inf`",
     .help = "with `alpha_m`, `alpha_f` and `gamma`; or of the method `newmark`, (gamma + 1/2)^2/4 "
             "by default"},
    {"gamma", &poli_number, OPTION(gamma), .standard = "from `rho_inf`",
     .help = "with `alpha_m`, `alpha_f` and `beta`; or of the method `newmark`, 1/2 by default"},
    {"sigma", &poli_sigma, AT(sigma), .standard = "`0`; the method `auto` uses `\"optimal\"`",
     .help = "`geom1`: weight of the velocity in the position update; `\"optimal\"` is gamma / (3 "
             "beta), which removes the Lie group part of the leading error"},
    {"theta", &poli_number, OPTION(theta), &zero_to_one, .standard = "the method's own",
     .help = "`vi-b`: where in the step forces are evaluated, 1 by default; `vi-a`: 1/2"},
    {"vartheta", &poli_number, OPTION(vartheta), &vartheta_range, .standard = "0.5",
     .help = "`vi-b`: weight of the reaction at the end of the step; values above 1/2 are unstable "
             "and cause a warning"},
    {"order", &poli_order, OPTION(order), .standard = "`2`; the method `auto` chooses it",
     .help = "of `rattle` on Lie groups; `\"auto\"` chooses it from `rtol` and `atol`"},
    {"guess", &poli_choice, OPTION(guess), &guesses, .standard = "\"advanced\"",
     .help = "`vi-s` to `rattle`: the Newton iteration starts from q + h v (`advanced`) or from q "
             "(`simple`)"},
    {"redundant", &poli_choice, OPTION(redundant), &redundants, .standard = "\"drop\"",
     .help =
         "treatment of redundant constraints: `drop`, `minimum-norm` or `refuse`, see [redundant "
         "constraints](#redundant-constraints)"},
    {"initial", &poli_choice, AT(settings.equilibrium), &initials, .standard = "\"given\"",
     .help = "`given`: the run starts from the values of the model; `equilibrium`: at rest in the "
             "[static equilibrium](analysis.md#static-equilibrium) that is found from them"},
    {"start", &poli_choice, OPTION(start), &starts, .standard = "\"default\"",
     .help = "starting values: `classical`, `shifted` or `perturbed`; `default` gives second order "
             "in every component"},
    {"rtol", &poli_number, OPTION(control.rtol), &poli_not_negative, .standard = "0",
     .help = "[steps of variable size](#steps-of-variable-size): relative tolerance of their local "
             "error; if `rtol` and `atol` are below 1e-12, the estimated error is round-off, which "
             "causes a warning"},
    {"atol", &poli_atol, 0, .unit = "m, rad", .standard = "`rtol`",
     .help = "absolute tolerance, non-negative, and not 0 together with `rtol`; choose it relative "
             "to the amplitude of the motion"},
    {"steps", &poli_choice, AT(steps), &steps, .standard = "by `rtol` and `atol`",
     .help = "`fixed` or `variable`, for models with both `step` and `rtol`"},
    {"control", &poli_object, 0, &control_kind,
     .help = "options of [steps of variable size](#steps-of-variable-size)"},
    {"output", &poli_object, 0, &output_kind, .standard = "every step",
     .help = "[times of the rows](#output-times) of the result"},
    {"newton", &poli_object, 0, &newton_kind, .help = "options of the Newton iteration"},
    {"published", &poli_object, 0, &published_kind,
     .help = "only to [repeat published runs](#repeating-published-runs)"},
    {"solver", &poli_choice, OPTION(solver), &solvers, .standard = "\"auto\"",
     .help = "`auto` (by size and fill), `dense` (LAPACK) or `sparse` (KLU)"},
    {"threads", &poli_integer, OPTION(threads), &to_most_threads, .standard = "0",
     .help = "for one step of a large mechanism; 0: one for each processor. Results do not depend "
             "on it"},
    {.key = NULL},
};

#undef OPTION
#undef AT

const poli_kind poli_simulation_kind =
    KIND("simulation", "must be an object with the settings of the simulation", simulation_fields,
         sizeof(poli_model_simulation), .link = "simulation", .check = poli_check_simulation,
         .schema = "{'anyOf': [{'required': ['step']}, {'required': ['rtol']}, {'required': "
                   "['atol']}], 'not': {'required': ['rho_inf', 'alpha_m']}, 'dependencies': "
                   "{'alpha_m': ['alpha_f', 'beta', 'gamma'], 'alpha_f': ['alpha_m', 'beta', "
                   "'gamma']}, 'properties': {'vartheta': {'exclusiveMaximum': 1}}, 'if': "
                   "{'properties': {'steps': {'const': 'fixed'}}, 'required': ['steps']}, "
                   "'then': {'required': ['step']}}");
