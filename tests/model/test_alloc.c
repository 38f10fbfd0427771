/* Reading a model with every allocation made to fail: POL_NO_MEMORY, nothing left behind.
 *
 * The allocations of Jansson are counted too.  Once one has failed, those after it inside Jansson
 * fail as well: Jansson does not notice when its token buffer cannot grow, and would go on with a
 * character less if the next allocation succeeded. */
#include "../failing_alloc.h"

#include <jansson.h>
#include <string.h>

#include <polhode/model.h>

static void *allocate_json(size_t size)
{
  if (alloc_state.fail_at > 0 && alloc_state.count >= alloc_state.fail_at) return NULL;
  return __wrap_malloc(size);
}

static int install(void **state)
{
  alloc_install(state);
  json_set_alloc_funcs(allocate_json, __wrap_free);
  return 0;
}

/* What to read, and how many errors are right. */
typedef struct input {
  const char *path; /* or NULL */
  const char *text;
  int num_overrides;
  const char *const *overrides;
  int num_errors;
} input;

/* POL_OK if the outcome is the right one. */
static pol_status read_input(void *user)
{
  const input *in = user;
  pol_errors errors = {0, NULL};
  pol_model *model = NULL;
  pol_status status;
  if (in->path)
    status = pol_model_read_file(&model, in->path, in->num_overrides, in->overrides, &errors);
  else
    status = pol_model_read_text(&model, in->text, in->num_overrides, in->overrides, &errors);
  if (status == POL_NO_MEMORY) {
    assert_null(model);
    assert_int_equal(errors.count, 0);
  }
  if (status == POL_BAD_ARGUMENT && in->num_errors > 0 && errors.count == in->num_errors)
    status = POL_OK;
  pol_errors_clear(&errors);
  pol_model_free(&model);
  return status;
}

static void a_good_model(void **state)
{
  (void)state;
  static const char *const overrides[] = {"bodies.top.mass=3", "simulation.method=geom1",
                                          "simulation.newton={\"kind\": \"full\"}"};
  input in = {.path = POLHODE_SOURCE_DIR "/models/bruels-cardona-2010/heavy_top.json",
              .num_overrides = 3,
              .overrides = overrides};
  assert_true(alloc_exhaust(read_input, &in) > 50);
}

static void joints_and_forces_of_every_form(void **state)
{
  (void)state;
  input in = {.text = "{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1]},"
                      "{\"name\": \"b\", \"mass\": 1, \"inertia\": [[1,0,0],[0,1,0],[0,0,1]]}],"
                      "\"markers\": [{\"name\": \"m\", \"body\": \"a\"},"
                      "{\"name\": \"n\", \"body\": \"ground\"}],"
                      "\"joints\": [{\"name\": \"j\", \"type\": \"fixed\", \"markers\": [\"m\","
                      "\"n\"]}, {\"name\": \"k\", \"type\": \"universal\", \"bodies\": [\"a\","
                      "\"b\"], \"point\": [0,0,0], \"axes\": [[1,0,0],[0,1,0]]},"
                      "{\"name\": \"l\", \"type\": \"distance\", \"markers\": [\"m\","
                      "\"n\"], \"length\": 1}],"
                      "\"forces\": [{\"name\": \"f\", \"type\": \"torque\", \"body\": \"a\","
                      "\"torque\": [1,2,3]}, {\"name\": \"g\", \"type\": \"support\","
                      "\"body\": \"b\", \"stiffness\": [1,2,3], \"damping\": 1},"
                      "{\"name\": \"h\", \"type\": \"bushing\", \"markers\": [\"m\", \"n\"],"
                      "\"stiffness\": 1}, {\"name\": \"i\", \"type\": \"spring-damper\","
                      "\"bodies\": [\"a\", \"b\"], \"points\": [[0,0,1],[0,0,0]],"
                      "\"stiffness\": 1, \"scale\": {\"type\": \"table\", \"times\": [0, 1],"
                      "\"values\": [1, 2]}}, {\"name\": \"o\", \"type\": \"force\","
                      "\"marker\": \"m\", \"frame\": \"marker\", \"force\": [1,0,0],"
                      "\"scale\": {\"type\": \"polynomial\", \"coefficients\": [1]}}],"
                      "\"drives\": [{\"name\": \"p\", \"marker\": \"m\", \"coordinate\": \"x\","
                      "\"function\": {\"type\": \"constant\", \"value\": 0}}],"
                      "\"simulation\": {\"step\": 1, \"end\": 2}}"};
  assert_true(alloc_exhaust(read_input, &in) > 50);
}

static void couplings_and_locks(void **state)
{
  (void)state;
  static const char *const overrides[] = {
      "joints.pin={\"name\": \"pin\", \"type\": \"generic\", \"bodies\": [\"ground\", \"planet\"],"
      " \"point\": [0, 0, 0], \"locked\": [\"x\", \"rotation-y\"]}",
      "couplings=[{\"name\": \"mesh\", \"joints\": [\"arm\", \"shaft\"], \"factors\": [1, 2]}]"};
  input in = {.path = POLHODE_SOURCE_DIR "/models/examples/planetary_gear.json",
              .num_overrides = 2,
              .overrides = overrides};
  assert_true(alloc_exhaust(read_input, &in) > 100);
  input keys = {.path = POLHODE_SOURCE_DIR "/tests/data/bad-models/coupling-keys.json",
                .num_errors = 17};
  assert_true(alloc_exhaust(read_input, &keys) > 100);
}

static void shapes(void **state)
{
  (void)state;
  input in = {.text = "{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1],"
                      "\"shapes\": [{\"type\": \"mesh\", \"file\": \"a.stl\"},"
                      "{\"type\": \"mesh\", \"file\": \"b.obj\"}]}],"
                      "\"shapes\": [{\"type\": \"box\", \"size\": [1, 2, 3]}],"
                      "\"simulation\": {\"step\": 1, \"end\": 1}}"};
  assert_true(alloc_exhaust(read_input, &in) > 30);
}

static void drives(void **state)
{
  (void)state;
  static const char *const overrides[] = {
      "drives[0].function={\"type\": \"table\", \"times\": [0, 1, 3], \"values\": [0, 1, 1]}"};
  input in = {.path = POLHODE_SOURCE_DIR "/models/examples/four_bar_motor.json",
              .num_overrides = 1,
              .overrides = overrides};
  assert_true(alloc_exhaust(read_input, &in) > 100);
  static const char *const expression[] = {
      "drives[0].function={\"expression\": \"0.1*sin(2*pi*t)\"}"};
  in.overrides = expression;
  assert_true(alloc_exhaust(read_input, &in) > 100);
  static const char *const wrong[] = {"drives[0].function={\"expression\": \"sine(t)\"}"};
  in.overrides = wrong;
  in.num_errors = 1;
  assert_true(alloc_exhaust(read_input, &in) > 100);
  input keys = {.path = POLHODE_SOURCE_DIR "/tests/data/bad-models/function-keys.json",
                .num_errors = 10};
  assert_true(alloc_exhaust(read_input, &keys) > 50);
}

static void events(void **state)
{
  (void)state;
  input in = {.path = POLHODE_SOURCE_DIR "/models/examples/bouncing_ball.json"};
  assert_true(alloc_exhaust(read_input, &in) > 50);
  input keys = {.path = POLHODE_SOURCE_DIR "/tests/data/bad-models/events.json", .num_errors = 13};
  assert_true(alloc_exhaust(read_input, &keys) > 50);
  input names = {.path = POLHODE_SOURCE_DIR "/tests/data/bad-models/event-names.json",
                 .num_errors = 4};
  assert_true(alloc_exhaust(read_input, &names) > 50);
}

static void flexible_bodies(void **state)
{
  (void)state;
  static const char *const small[] = {"flexible_bodies[0].mesh.elements=20",
                                      "flexible_bodies[0].modes=1"};
  input in = {.path = POLHODE_SOURCE_DIR "/models/flexible/pendulum.json",
              .num_overrides = 2,
              .overrides = small};
  assert_true(alloc_exhaust(read_input, &in) > 100);
  static const char *const wrong[] = {"flexible_bodies[0].interfaces[1].nodes=[99]"};
  input bad = {.path = POLHODE_SOURCE_DIR "/models/flexible/pendulum.json",
               .num_overrides = 1,
               .overrides = wrong,
               .num_errors = 1};
  assert_true(alloc_exhaust(read_input, &bad) > 100);
}

static void joint_axes(void **state)
{
  (void)state;
  input in = {.path = POLHODE_SOURCE_DIR "/models/examples/door.json"};
  assert_true(alloc_exhaust(read_input, &in) > 50);
  input keys = {.path = POLHODE_SOURCE_DIR "/tests/data/bad-models/joint-axes.json",
                .num_errors = 32};
  assert_true(alloc_exhaust(read_input, &keys) > 50);
}

static void expressions(void **state)
{
  (void)state;
  input in = {.path = POLHODE_SOURCE_DIR "/models/examples/pid_pendulum.json"};
  assert_true(alloc_exhaust(read_input, &in) > 100);
  input names = {.path = POLHODE_SOURCE_DIR "/tests/data/bad-models/expression-names.json",
                 .num_errors = 7};
  assert_true(alloc_exhaust(read_input, &names) > 100);
  input syntax = {.path = POLHODE_SOURCE_DIR "/tests/data/bad-models/expression-syntax.json",
                  .num_errors = 12};
  assert_true(alloc_exhaust(read_input, &syntax) > 100);
  input circle = {.path = POLHODE_SOURCE_DIR "/tests/data/bad-models/expression-circle.json",
                  .num_errors = 1};
  assert_true(alloc_exhaust(read_input, &circle) > 100);
}

#define FILES                                                                                      \
  "\"files\": {\"leg.json\": {\"parameters\": {\"L\": 1, \"k\": {\"value\": \"2*L\", \"unit\": "   \
  "\"N/m\"}}, \"bodies\": [{\"name\": \"thigh\", \"density\": 3, \"position\": [\"L\", 0, 0], "    \
  "\"shapes\": [{\"type\": \"box\", \"size\": [1, \"L\", 1], \"position\": [1, 0, 0]}, "           \
  "{\"type\": "                                                                                    \
  "\"mesh\", \"file\": \"a.stl\"}]}], \"joints\": [{\"name\": \"hip\", \"type\": \"revolute\", "   \
  "\"bodies\": [\"trunk\", \"thigh\"], \"point\": [0, 0, 0], \"axis\": [1, 0, 0]}], "              \
  "\"variables\": "                                                                                \
  "[{\"name\": \"bend\", \"expression\": \"L*hip.angle\"}], \"forces\": [{\"name\": \"f\", "       \
  "\"type\": \"force\", \"body\": \"thigh\", \"force\": [1, \"k*bend + trunk.position.x\", "       \
  "\"L/2\"]}], \"events\": [{\"name\": \"e\", \"expression\": \"bend\", \"action\": \"reset\", "   \
  "\"direction\": \"rising\", \"set\": {\"thigh.velocity.x\": \"-L\"}}]}, \"a.stl\": "             \
  "{\"volume\": "                                                                                  \
  "1, \"center\": [0, 0, 0], \"second\": [1, 0, 0, 0, 1, 0, 0, 0, 1]}},"

static void parameters_copies_and_files(void **state)
{
  (void)state;
  static const char *const overrides[] = {"parameters.n=2", "parameters.w=n/2"};
  input in = {.text =
                  "{\"parameters\": {\"n\": 1, \"w\": {\"value\": \"n + 1\", \"min\": 0}}," FILES
                  "\"bodies\": [{\"name\": \"trunk\", \"mass\": \"w\", \"inertia\": [1, 1, "
                  "\"w\"]}, {\"repeat\": {\"i\": \"n\"}, \"name\": \"b{i}\", \"mass\": 1, "
                  "\"inertia\": \"auto\", \"shapes\": [{\"repeat\": {\"k\": [1, 2]}, \"type\": "
                  "\"sphere\", \"radius\": \"k\"}]}], \"include\": [{\"file\": \"leg.json\", "
                  "\"repeat\": {\"i\": 2}, \"prefix\": \"a {i} \", \"position\": [\"i\", 0, 0], "
                  "\"rotation\": {\"axis\": [0, 0, 1], \"angle\": 1}, \"parameters\": {\"L\": "
                  "\"w\"}}], \"simulation\": {\"step\": 0.1, \"end\": 1}}",
              .num_overrides = 2,
              .overrides = overrides};
  assert_true(alloc_exhaust(read_input, &in) > 500);
  input wrong = {
      .text = "{\"parameters\": {\"a\": \"b\", \"b\": \"a\", \"c\": \"2*\", \"d\": {\"value\":"
              " 1, \"unit\": \"x\"}, \"L\": {\"value\": 1, \"unit\": \"m\"}}," FILES
              "\"bodies\": [{\"name\": \"trunk\", \"mass\": \"L\", \"inertia\": [1, 1, "
              "\"w\"]}, {\"repeat\": {\"i\": -0.5}, \"name\": \"b\"}], \"include\": "
              "[{\"file\": \"leg.json\", \"parameters\": {\"l\": 1}}, {\"file\": "
              "\"x.json\"}], \"simulation\": {\"step\": 0.1, \"end\": 1}}",
      .num_errors = 8};
  assert_true(alloc_exhaust(read_input, &wrong) > 200);
}

static void a_model_with_many_errors(void **state)
{
  (void)state;
  static const char *const overrides[] = {"nothing", "simulaton.x=1", "a.b=1", "[=1", "c={"};
  input in = {.path = POLHODE_SOURCE_DIR "/tests/data/bad-models/many-errors.json",
              .num_overrides = 5,
              .overrides = overrides,
              .num_errors = 18};
  assert_true(alloc_exhaust(read_input, &in) > 100);
}

static void odd_keys_and_refused_numbers(void **state)
{
  (void)state;
  input odd = {.path = POLHODE_SOURCE_DIR "/tests/data/bad-models/odd-unknown-keys.json",
               .num_errors = 6};
  assert_true(alloc_exhaust(read_input, &odd) > 50);
  input refused = {.path = POLHODE_SOURCE_DIR "/tests/data/bad-models/joint-out-of-range.json",
                   .num_errors = 1};
  assert_true(alloc_exhaust(read_input, &refused) > 30);
}

static void syntax_errors(void **state)
{
  (void)state;
  static const char *const texts[] = {"", "{\"name\": \"a long text without an end", "[1, 2"};
  for (int i = 0; i < 3; i++) {
    input in = {.text = texts[i], .num_errors = 1};
    assert_true(alloc_exhaust(read_input, &in) > 4);
  }
}

static pol_status read_nowhere(void *user)
{
  (void)user;
  pol_errors errors = {0, NULL};
  pol_model *model = NULL;
  const pol_status status = pol_model_read_file(&model, "no such file", 0, NULL, &errors);
  assert_int_equal(errors.count, status == POL_IO);
  pol_errors_clear(&errors);
  return status == POL_IO ? POL_OK : status;
}

static void a_missing_file(void **state)
{
  (void)state;
  assert_int_equal(alloc_exhaust(read_nowhere, NULL), 9);
}

static pol_status make_schema(void *user)
{
  char *text = NULL;
  const pol_status status = pol_model_schema(&text);
  (void)user;
  if (status) assert_null(text);
  free(text);
  return status;
}

static pol_status make_reference(void *user)
{
  char *text = NULL;
  const pol_status status = pol_model_reference(&text);
  (void)user;
  if (status) assert_null(text);
  free(text);
  return status;
}

/* There are thousands of allocations of a few kinds: one in eleven fails. */
static void the_schema_and_the_reference(void **state)
{
  pol_status (*const attempts[])(void *) = {make_schema, make_reference};
  (void)state;
  for (int i = 0; i < 2; i++) {
    const long live = alloc_live();
    alloc_fail_at(0);
    assert_int_equal(attempts[i](NULL), POL_OK);
    const long count = alloc_count();
    assert_true(count > 100);
    for (long n = 1; n <= count; n += 11) {
      alloc_fail_at(n);
      const pol_status status = attempts[i](NULL);
      alloc_fail_at(0);
      assert_int_equal(status, POL_NO_MEMORY);
      assert_int_equal(alloc_live(), live);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_good_model),
      cmocka_unit_test(joints_and_forces_of_every_form),
      cmocka_unit_test(couplings_and_locks),
      cmocka_unit_test(shapes),
      cmocka_unit_test(drives),
      cmocka_unit_test(flexible_bodies),
      cmocka_unit_test(joint_axes),
      cmocka_unit_test(expressions),
      cmocka_unit_test(events),
      cmocka_unit_test(parameters_copies_and_files),
      cmocka_unit_test(a_model_with_many_errors),
      cmocka_unit_test(odd_keys_and_refused_numbers),
      cmocka_unit_test(syntax_errors),
      cmocka_unit_test(a_missing_file),
      cmocka_unit_test(the_schema_and_the_reference),
  };
  return cmocka_run_group_tests(tests, install, NULL);
}
