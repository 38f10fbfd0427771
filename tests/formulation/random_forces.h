/* Forces of all types with random data, on the bodies of a mechanism of two. */
#ifndef POLHODE_TESTS_RANDOM_FORCES_H
#define POLHODE_TESTS_RANDOM_FORCES_H

#include "formulation/random_mechanism.h"

/* 1.7 at t = 0, where the terms are evaluated */
static const pol_function scale = {
    .type = POL_HARMONIC, .offset = 1.7, .amplitude = 2.0, .frequency = 3.0};

/* A force and a torque in each frame, on both bodies, the forces off the centre of mass; two are
 * scaled by a function of time. */
static inline void add_random_forces(pol_mechanism *mechanism, uint64_t *seed)
{
  static const char *const names[] = {"f global", "f body", "t global", "t body"};
  for (int i = 0; i < 4; i++) {
    pol_force force = {.name = names[i],
                       .type = i < 2 ? POL_APPLIED_FORCE : POL_APPLIED_TORQUE,
                       .body = i == 0 || i == 3,
                       .frame = i % 2 ? POL_BODY_AXES : POL_GLOBAL_AXES,
                       .scale = i == 1 || i == 2 ? &scale : NULL};
    random_numbers(seed, force.vector, 3);
    random_numbers(seed, force.point, 3);
    assert_int_equal(pol_mechanism_add_force(mechanism, &force, NULL), POL_OK);
  }
}

/* A linear spring and damper between the centres of mass, and a damper of the second spin, as a
 * program may write it. */
static inline pol_status own_wrench(double t, const pol_motion motion[2], double wrench[12],
                                    void *user)
{
  const double *k = user;
  (void)t;
  for (int i = 0; i < 3; i++) {
    wrench[9 + i] = -k[0] * (motion[1].position[i] - motion[0].position[i]) -
                    k[1] * (motion[1].velocity[i] - motion[0].velocity[i]);
    wrench[3 + i] = -wrench[9 + i];
    wrench[6 + i] = -k[1] * motion[1].angular_velocity[i];
  }
  return POL_OK;
}

static inline pol_status own_derivatives(double t, const pol_motion motion[2],
                                         double by_position[12][12], double by_velocity[12][12],
                                         void *user)
{
  const double *k = user;
  (void)t;
  (void)motion;
  for (int i = 0; i < 3; i++) {
    by_velocity[6 + i][6 + i] = -k[1];
    for (int row = 0; row < 2; row++)
      for (int col = 0; col < 2; col++) {
        by_position[3 + 6 * row + i][3 + 6 * col + i] = row == col ? -k[0] : k[0];
        by_velocity[3 + 6 * row + i][3 + 6 * col + i] = row == col ? -k[1] : k[1];
      }
  }
  return POL_OK;
}

static inline double own_potential(const pol_motion motion[2], void *user)
{
  const double *k = user;
  double square = 0.0;
  for (int i = 0; i < 3; i++) {
    double d = motion[1].position[i] - motion[0].position[i];
    square += d * d;
  }
  return 0.5 * k[0] * square;
}

/* Markers turned by at most 0.52 rad: with bodies turned by at most 0.87 rad, two of them are never
 * further than 2.8 rad from each other, and a bushing ends at 3. */
static inline void add_bushing_markers(pol_mechanism *mechanism, int first, int second,
                                       uint64_t *seed, int marker[2])
{
  for (int i = 0; i < 2; i++) {
    pol_marker end = {.name = "", .body = i == 0 ? first : second};
    double w[3];
    random_numbers(seed, end.position, 3);
    random_numbers(seed, w, 3);
    for (int j = 0; j < 3; j++) w[j] *= 0.3;
    pol_so3_exp(w, end.rotation);
    assert_int_equal(pol_mechanism_add_marker(mechanism, &end, &marker[i]), POL_OK);
  }
}

/* Stiffness and damping are X^T X of random X, the strains at random. */
static inline void random_section(uint64_t *seed, pol_section *section)
{
  double *matrices[] = {section->stiffness, section->damping};
  for (int k = 0; k < 2; k++) {
    double X[36];
    random_numbers(seed, X, 36);
    for (int i = 0; i < 36; i++) {
      matrices[k][i] = 0.0;
      for (int r = 0; r < 6; r++) matrices[k][i] += X[6 * r + i / 6] * X[6 * r + i % 6];
    }
  }
  random_numbers(seed, section->strain, 6);
}

/* Laws of position and velocity: supports and drag on both bodies, spring-dampers, bushings, beams
 * and a program's own force between them and to the ground, the ground first and second.  Actuators
 * push with the given force, one of them scaled by a function of time. */
static inline void add_laws(pol_mechanism *mechanism, double actuator, uint64_t *seed)
{
  static const struct {
    const char *name;
    pol_force_type type;
    int first, second;
    int law; /* of a spring, or the strain of a beam */
  } laws[] = {
      {"support a", POL_SUPPORT, POL_GROUND, 0, POL_LINEAR_SPRING},
      {"support b", POL_SUPPORT, POL_GROUND, 1, POL_LINEAR_SPRING},
      {"drag a", POL_DRAG, POL_GROUND, 0, POL_LINEAR_SPRING},
      {"drag b", POL_DRAG, POL_GROUND, 1, POL_LINEAR_SPRING},
      {"a to b", POL_SPRING_DAMPER, 0, 1, POL_LINEAR_SPRING},
      {"b to a", POL_SPRING_DAMPER, 1, 0, POL_SQUARED_SPRING},
      {"ground to a", POL_SPRING_DAMPER, POL_GROUND, 0, POL_SQUARED_SPRING},
      {"b to ground", POL_SPRING_DAMPER, 1, POL_GROUND, POL_LINEAR_SPRING},
      {"bushing a to b", POL_BUSHING, 0, 1, POL_LINEAR_SPRING},
      {"bushing b to a", POL_BUSHING, 1, 0, POL_LINEAR_SPRING},
      {"bushing of a", POL_BUSHING, POL_GROUND, 0, POL_LINEAR_SPRING},
      {"bushing of b", POL_BUSHING, 1, POL_GROUND, POL_LINEAR_SPRING},
      {"beam a to b", POL_BEAM, 0, 1, POL_BEAM_SE3},
      {"beam b to a", POL_BEAM, 1, 0, POL_BEAM_SO3XR3},
      {"beam of a", POL_BEAM, POL_GROUND, 0, POL_BEAM_SE3},
      {"beam of b", POL_BEAM, 1, POL_GROUND, POL_BEAM_SO3XR3},
      {"beam of directors", POL_BEAM, 0, 1, POL_BEAM_DIRECTORS},
      {"another to the ground", POL_BEAM, 1, POL_GROUND, POL_BEAM_DIRECTORS},
      {"own a to b", POL_CALLBACK_FORCE, 0, 1, POL_LINEAR_SPRING},
      {"own b to ground", POL_CALLBACK_FORCE, 1, POL_GROUND, POL_LINEAR_SPRING},
  };
  static double own[2] = {3.0, 0.7};
  for (int i = 0; i < (int)(sizeof laws / sizeof *laws); i++) {
    pol_force force = {.name = laws[i].name,
                       .type = laws[i].type,
                       .body = laws[i].second,
                       .law = laws[i].type == POL_SPRING_DAMPER ? (pol_spring_law)laws[i].law
                                                                : POL_LINEAR_SPRING,
                       .length = 0.7,
                       .actuator = actuator,
                       .scale = i == 4 ? &scale : NULL,
                       .coefficient = 0.4,
                       .bodies = {laws[i].first, laws[i].second},
                       .callback = {.wrench = own_wrench,
                                    .derivatives = own_derivatives,
                                    .potential = own_potential,
                                    .user = own}};
    random_numbers(seed, force.point, 3);
    random_numbers(seed, force.anchor, 3);
    for (int k = 0; k < 3; k++) {
      force.stiffness[k] = 2.0 + random_number(seed);
      force.damping[k] = 2.0 + random_number(seed);
      force.rotational_stiffness[k] = 2.0 + random_number(seed);
      force.rotational_damping[k] = 2.0 + random_number(seed);
      force.preload[k] = random_number(seed);
      force.preload_torque[k] = random_number(seed);
    }
    if (force.type == POL_SPRING_DAMPER) {
      force.marker[0] = add_random_marker(mechanism, laws[i].first, seed);
      force.marker[1] = add_random_marker(mechanism, laws[i].second, seed);
    }
    pol_section section;
    if (force.type == POL_BEAM) {
      random_section(seed, &section);
      force.section = &section;
      force.strain = (pol_beam_strain)laws[i].law;
    }
    if (force.type == POL_BUSHING || force.type == POL_BEAM)
      add_bushing_markers(mechanism, laws[i].first, laws[i].second, seed, force.marker);
    assert_int_equal(pol_mechanism_add_force(mechanism, &force, NULL), POL_OK);
  }
}

static inline void add_passive_laws(pol_mechanism *mechanism, uint64_t *seed)
{
  add_laws(mechanism, 0.0, seed);
}

static inline void add_active_laws(pol_mechanism *mechanism, uint64_t *seed)
{
  add_laws(mechanism, 3.0, seed);
}

/* A spring on each coordinate of each joint, with the actuator's effort given. */
static inline void add_joint_springs(pol_mechanism *mechanism, double actuator, uint64_t *seed)
{
  for (int joint = 0; joint < pol_mechanism_num_joints(mechanism); joint++) {
    int count = pol_joint_num_coordinates(pol_mechanism_joint(mechanism, joint));
    for (int i = 0; i < count; i++) {
      const char name[] = {(char)('a' + joint), (char)('a' + i), '\0'};
      pol_force force = {.name = name,
                         .type = POL_JOINT_SPRING,
                         .joint = joint,
                         .coordinate = i,
                         .stiffness = {2.0 + random_number(seed)},
                         .damping = {2.0 + random_number(seed)},
                         .rest = random_number(seed),
                         .actuator = actuator};
      assert_int_equal(pol_mechanism_add_force(mechanism, &force, NULL), POL_OK);
    }
  }
}

static inline void add_passive_joint_springs(pol_mechanism *mechanism, uint64_t *seed)
{
  add_joint_springs(mechanism, 0.0, seed);
}

static inline void add_active_joint_springs(pol_mechanism *mechanism, uint64_t *seed)
{
  add_joint_springs(mechanism, 3.0, seed);
}

/* Two bodies and two joints with room, springs on all joint coordinates, a turn made. */
static inline void create_with_joint_springs(system_t *sys, pol_joint_type type,
                                             pol_formulation_kind kind, add_forces_t *add_forces,
                                             uint64_t *seed)
{
  const double turn = 2.0 * 3.14159265358979323846;
  create_with_room(sys, type, kind, &(variant){.add_forces = add_forces}, seed);
  if (sys->dae->update_history) sys->dae->update_history(0.0, sys->q, sys->history, sys->dae->user);
  for (size_t i = 0; i < sys->dae->history_size; i++) {
    assert_true(fabs(sys->history[i]) <= turn / 2.0);
    sys->history[i] += turn;
  }
}

#endif
