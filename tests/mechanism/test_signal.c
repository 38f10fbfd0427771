/* The names of signals: all of them, each once, in the order of the channels, and what a search for
 * a name returns. */
#include <polhode/polhode.h>

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "mechanism/signal.h"

/* A body on a revolute joint, whose second marker has a name, and a point mass. */
static pol_mechanism *create(void)
{
  pol_mechanism *mechanism;
  pol_body bar = {.name = "bar",
                  .mass = 1.0,
                  .inertia = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0},
                  .rotation = {1.0, 0.0, 0.0, 0.0}};
  pol_body bob = {.name = "bob", .mass = 1.0, .point = 1, .rotation = {1.0, 0.0, 0.0, 0.0}};
  pol_marker ground = {.name = "", .body = POL_GROUND, .rotation = {1.0, 0.0, 0.0, 0.0}};
  pol_marker end = {.name = "end", .rotation = {1.0, 0.0, 0.0, 0.0}};
  pol_joint hinge = {.name = "hinge", .type = POL_REVOLUTE};
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  assert_int_equal(pol_mechanism_add_body(mechanism, &bar, &end.body), POL_OK);
  assert_int_equal(pol_mechanism_add_body(mechanism, &bob, NULL), POL_OK);
  assert_int_equal(pol_mechanism_add_marker(mechanism, &ground, &hinge.marker[0]), POL_OK);
  assert_int_equal(pol_mechanism_add_marker(mechanism, &end, &hinge.marker[1]), POL_OK);
  assert_int_equal(pol_mechanism_add_joint(mechanism, &hinge, NULL), POL_OK);
  return mechanism;
}

static const char all_names[] =
    "t "
    "bar.position.x bar.position.y bar.position.z "
    "bar.velocity.x bar.velocity.y bar.velocity.z "
    "bar.angular_velocity.x bar.angular_velocity.y bar.angular_velocity.z "
    "bar.angular_velocity_global.x bar.angular_velocity_global.y bar.angular_velocity_global.z "
    "bob.position.x bob.position.y bob.position.z "
    "bob.velocity.x bob.velocity.y bob.velocity.z "
    "marker.end.position.x marker.end.position.y marker.end.position.z "
    "marker.end.velocity.x marker.end.velocity.y marker.end.velocity.z "
    "hinge.angle hinge.rate "
    "hinge.force.x hinge.force.y hinge.force.z "
    "hinge.torque.x hinge.torque.y hinge.torque.z "
    "hinge.force_local.x hinge.force_local.y hinge.force_local.z "
    "hinge.torque_local.x hinge.torque_local.y hinge.torque_local.z "
    "hinge.multiplier.1 hinge.multiplier.2 hinge.multiplier.3 hinge.multiplier.4 "
    "hinge.multiplier.5 ";

typedef struct list {
  char text[4096];
  const pol_mechanism *mechanism;
  int left; /* names until the walk is to end */
} list;

/* Collects the names, and looks for each. */
static int collect(const char *name, const poli_signal *signal, void *user)
{
  list *all = user;
  size_t used = strlen(all->text);
  poli_signal found;
  snprintf(all->text + used, sizeof all->text - used, "%s ", name);
  assert_int_equal(poli_signal_find(all->mechanism, name, &found), 1);
  assert_int_equal(found.kind, signal->kind);
  assert_int_equal(found.object, signal->object);
  assert_int_equal(found.component, signal->component);
  return --all->left == 0 ? 7 : 0;
}

static void every_signal_has_its_name(void **state)
{
  (void)state;
  pol_mechanism *mechanism = create();
  list all = {.mechanism = mechanism};
  assert_int_equal(poli_signal_each(mechanism, collect, &all), 0);
  assert_string_equal(all.text, all_names);
  pol_mechanism_free(&mechanism);
}

static void a_walk_ends_where_the_visitor_says(void **state)
{
  (void)state;
  pol_mechanism *mechanism = create();
  list all = {.mechanism = mechanism, .left = 3};
  assert_int_equal(poli_signal_each(mechanism, collect, &all), 7);
  assert_string_equal(all.text, "t bar.position.x bar.position.y ");
  pol_mechanism_free(&mechanism);
}

static void other_names_are_not_found(void **state)
{
  (void)state;
  static const char *const names[] = {"",
                                      "x",
                                      "bar",
                                      "bar.",
                                      "bar.position",
                                      "bar.position.w",
                                      "bar.position.xx",
                                      "ba.position.x",
                                      "bob.angular_velocity.x",
                                      "marker..position.x",
                                      "end.position.x",
                                      "hinge.multiplier.0",
                                      "hinge.multiplier.6",
                                      "hinge.force",
                                      "hinge.displacement"};
  pol_mechanism *mechanism = create();
  poli_signal signal;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (poli_signal_find(mechanism, names[i], &signal)) fail_msg("'%s' was found", names[i]);
  pol_mechanism_free(&mechanism);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_signal_has_its_name),
      cmocka_unit_test(a_walk_ends_where_the_visitor_says),
      cmocka_unit_test(other_names_are_not_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
