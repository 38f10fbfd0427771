/* A model without the mechanism room: the planar pendulum as a pol_dae in R^2, in Cartesian
 * coordinates, m x'' + lambda x = 0,   m y'' + m g + lambda y = 0,   (x^2 + y^2 - l^2)/2 = 0. */
#include <polhode/polhode.h>

#include <math.h>
#include <stdio.h>

typedef struct pendulum {
  double mass, length, gravity;
} pendulum;

static pol_status evaluate(const pol_point *at, unsigned want, const pol_terms *out,
                           double *scratch, void *user)
{
  const pendulum *p = user;
  const double *q = at->q, *v = at->v;
  (void)scratch; /* nothing to remember */
  for (int i = 0; i < 2; i++) {
    if (want & POL_INERTIA) out->balance[i] += p->mass * at->vd[i];
    if (want & POL_FORCE) out->balance[i] += i == 1 ? p->mass * p->gravity : 0.0;
    if (want & POL_REACTION) out->balance[i] += q[i] * at->lambda[0];
    if (want & POL_MASS) out->mass[3 * i] += p->mass; /* full 2 x 2: diagonal entries 0 and 3 */
    if (want & POL_GEOMETRIC_STIFFNESS) out->stiffness[3 * i] += at->lambda[0];
    if (want & POL_JACOBIAN) out->jacobian[i] += q[i];
    if (want & POL_CURVATURE) out->curvature[i] += v[i];
  }
  if (want & POL_POSITION)
    out->position[0] = 0.5 * (q[0] * q[0] + q[1] * q[1] - p->length * p->length);
  if (want & POL_VELOCITY) out->velocity[0] = q[0] * v[0] + q[1] * v[1];
  if (want & POL_ACCELERATION) out->acceleration[0] = v[0] * v[0] + v[1] * v[1];
  return POL_OK;
}

int main(void)
{
  pendulum model = {.mass = 1.0, .length = 1.0, .gravity = 9.81};
  pol_factor plane = {.kind = POL_REAL, .dim = 2};
  pol_dae dae = {.num_holonomic = 1, .evaluate = evaluate, .user = &model};
  pol_options options = pol_options_default();
  pol_integrator *integrator = NULL;
  const double q[2] = {1.0, 0.0}, v[2] = {0.0, 0.0}, h = 0.01;

  pol_group_layout(&dae.group, &plane, 1);
  pol_status status = pol_integrator_create(&integrator, &dae, &options);
  if (!status) status = pol_integrator_start(integrator, 0.0, q, v, NULL);
  for (int n = 0; n < 100 && !status; n++) {
    status = pol_integrator_step(integrator, h);
    const pol_state *s = pol_integrator_state(integrator);
    if (n % 10 == 9 && !status)
      printf("t %.2f  x %8.5f  y %8.5f  rod force %8.4f\n", s->t, s->q[0], s->q[1],
             s->lambda[0] * hypot(s->q[0], s->q[1]));
  }
  if (status) fprintf(stderr, "pendulum: %s\n", pol_status_text(status));
  pol_integrator_free(&integrator);
  return status ? 1 : 0;
}
