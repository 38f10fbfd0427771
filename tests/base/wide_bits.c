/* The bits of a few runs that the functions for several processors (base/wide.h) take part in, as
 * lines of text for test_wide.py.  It is linked once with the library, whose functions the dynamic
 * linker chooses, and once with these functions compiled for each processor.  Ends with status 77
 * on a processor that cannot run it. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <polhode/polhode.h>

/* FNV-1a of the bits of some numbers. */
static uint64_t hash(uint64_t sum, const double *x, int count)
{
  for (int i = 0; i < count; i++) {
    uint64_t bits;
    memcpy(&bits, &x[i], sizeof bits);
    for (int k = 0; k < 8; k++) sum = (sum ^ (bits >> 8 * k & 255)) * 1099511628211u;
  }
  return sum;
}

/* Where links of a chain meet: on a half circle. */
static void find_joint(int i, int links, double at[3])
{
  const double angle = 3.14 * i / links, radius = 0.06 * links;
  at[0] = -radius * cos(angle);
  at[1] = 0.01 * (i % 2);
  at[2] = -radius * sin(angle);
}

/* A chain of links that hangs from the ground, each hinged about another axis or with a ball joint;
 * its end is tied to the ground by a ball joint if it is closed. */
static pol_status make_chain(pol_mechanism *m, int links, int hinges, int closed)
{
  static const double axes[2][3] = {{0.0, 1.0, 0.0}, {0.0, 0.6, 0.8}};
  pol_status status = POL_OK;
  for (int i = 0; i < links && !status; i++) {
    char name[24];
    double from[3], to[3];
    snprintf(name, sizeof name, "b%d", i);
    find_joint(i, links, from);
    find_joint(i + 1, links, to);
    const pol_body body = {
        .name = name,
        .mass = 0.3 + 0.1 * (i % 3),
        .inertia = {2e-3, 1e-4, 0, 1e-4, 5e-3, 0, 0, 0, 6e-3},
        .position = {0.5 * (from[0] + to[0]), 0.5 * (from[1] + to[1]), 0.5 * (from[2] + to[2])},
        .rotation = {1.0, 0.0, 0.0, 0.0}};
    status = pol_mechanism_add_body(m, &body, NULL);
  }
  for (int i = 0; i < links + closed && !status; i++) {
    char name[24];
    const int hinge = hinges && i < links;
    double at[3];
    find_joint(i, links, at);
    snprintf(name, sizeof name, "j%d", i);
    pol_joint joint = {.name = name, .type = hinge ? POL_REVOLUTE : POL_SPHERICAL};
    status = pol_mechanism_add_joint_at(m, &joint, i == 0 ? POL_GROUND : i - 1,
                                        i == links ? POL_GROUND : i, at, hinge ? axes[i % 2] : NULL,
                                        NULL);
  }
  return status;
}

static int run(const char *method, pol_index index, int links, int hinges, int closed)
{
  static const double gravity[3] = {0.1, 0.3, -9.81};
  pol_mechanism *mechanism;
  pol_settings settings = pol_settings_default();
  pol_simulation *simulation = NULL;
  pol_diagnostics why = {.message = ""};
  if (pol_mechanism_create(&mechanism)) return 1;
  pol_mechanism_set_gravity(mechanism, gravity);
  pol_options_set_method(&settings.options, method);
  settings.options.index = index;
  settings.options.threads = 1;
  settings.step = 1e-3;
  settings.end = 0.05;
  int failed = make_chain(mechanism, links, hinges, closed) ||
               pol_simulation_create(&simulation, mechanism, &settings, &why);
  while (!failed && !pol_simulation_finished(simulation))
    failed = pol_simulation_step(simulation) != POL_OK;
  if (failed) {
    printf("%s failed: %s\n", method,
           simulation ? pol_simulation_diagnostics(simulation)->message : why.message);
  } else {
    const pol_dae *dae = pol_formulation_dae(pol_simulation_formulation(simulation));
    const pol_state *state = pol_simulation_state(simulation);
    uint64_t sum = hash(14695981039346656037u, state->q, dae->group.nq);
    sum = hash(sum, state->v, dae->group.nv);
    sum = hash(sum, state->vd, dae->group.nv);
    sum = hash(sum, state->lambda, pol_dae_num_constraints(dae));
    printf("%s, index %d, %d links, hinges %d, closed %d: %016llx\n", method, (int)index, links,
           hinges, closed, (unsigned long long)sum);
  }
  pol_simulation_free(&simulation);
  pol_mechanism_free(&mechanism);
  return failed;
}

int main(void)
{
#ifdef WIDE_BITS_NEEDS
  if (!__builtin_cpu_supports(WIDE_BITS_NEEDS)) return 77;
#endif
  int failed = 0;
  for (int hinges = 0; hinges < 2; hinges++)
    for (int closed = 0; closed < 2; closed++) {
      failed |= run("geom1", POL_INDEX_3, 7, hinges, closed);
      failed |= run("geom1", POL_INDEX_2, 7, hinges, closed);
      failed |= run("geom1", POL_INDEX_2_STABILIZED, 7, hinges, closed);
      failed |= run("rattle", POL_INDEX_3, 7, hinges, closed);
    }
  failed |= run("geom1", POL_INDEX_3, 1200, 0, 0); /* with parts of the elimination */
  return failed;
}
