/* Writing a page with every allocation made to fail: POL_NO_MEMORY, nothing left behind, no page.
 */
#include "../failing_alloc.h"

#include <jansson.h>
#include <stdio.h>

#include <polhode/view.h>

/* Jansson does not notice every failure of its own; once one has failed, all after it do. */
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

typedef struct input {
  const pol_model *model;
  pol_result *result;
  const char *path;
} input;

static pol_status write_page(void *user)
{
  const input *in = user;
  const pol_view_options options = {
      .folder = ".", .title = "a name", .compare = in->result, .compare_title = "itself"};
  char message[64] = "?????";
  remove(in->path); /* of a test that failed */
  const pol_status status =
      pol_view_write(in->path, in->model, in->result, &options, NULL, message, sizeof message);
  FILE *page = fopen(in->path, "rb");
  if ((page != NULL) != (status == POL_OK)) fail_msg("a page although status %d, or none", status);
  if ((message[0] != '\0') != (status != POL_OK) || message[0] == '?')
    fail_msg("status %d with the message '%s'", status, message);
  if (page != NULL) fclose(page);
  remove(in->path);
  return status;
}

static void write_text(const char *path, const char *text)
{
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static void pages(void **state)
{
  (void)state;
  input in = {NULL, NULL, "alloc.html"};
  pol_model *model = NULL;
  pol_errors errors = {0, NULL};
  write_text("alloc.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  write_text("alloc.csv",
             "t,a.position.x,a.position.y,a.position.z,a.quaternion.w,a.quaternion.x,"
             "a.quaternion.y,a.quaternion.z,b.position.x,b.position.y,b.position.z,b.quaternion.w,"
             "b.quaternion.x,b.quaternion.y,b.quaternion.z,c.position.x,c.position.y,c.position.z,"
             "c.quaternion.w,c.quaternion.x,c.quaternion.y,c.quaternion.z,c.mode.1,energy.total\n"
             "0,0,0,0,1,0,0,0,0,0,0,1,0,0,0,0,0,0,1,0,0,0,0,5\n"
             "1,0,0,1,1,0,0,0,0,0,1,1,0,0,0,0,0,0,1,0,0,0,1,5\n");
  assert_int_equal(
      pol_model_read_text(&model,
                          "{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1],"
                          "\"shapes\": [{\"type\": \"mesh\", \"file\": \"alloc.obj\"}]},"
                          "{\"name\": \"b\", \"mass\": 1, \"inertia\": [1, 1, 1]}],"
                          "\"flexible_bodies\": [{\"name\": \"c\", \"modes\": 1, \"mesh\": {"
                          "\"type\": \"block\", \"size\": [1, 1, 1], \"divisions\": [1, 1, 1],"
                          "\"material\": {\"young\": 1e9, \"density\": 1000}}}],"
                          "\"markers\": [{\"name\": \"m\", \"body\": \"a\"}],"
                          "\"joints\": [{\"name\": \"j\", \"type\": \"spherical\", \"bodies\":"
                          "[\"a\", \"b\"], \"point\": [0, 0, 1]}],"
                          "\"forces\": [{\"name\": \"f\", \"type\": \"force\", \"body\": \"a\","
                          "\"force\": [1, 0, 0]}],"
                          "\"simulation\": {\"step\": 1, \"end\": 1}}",
                          0, NULL, &errors),
      POL_OK);
  assert_int_equal(pol_result_open(&in.result, "alloc.csv", NULL, 0), POL_OK);
  in.model = model;
  assert_true(alloc_exhaust(write_page, &in) > 60);
  in.path = "alloc.glb";
  assert_true(alloc_exhaust(write_page, &in) > 60);
  pol_result_close(&in.result);
  pol_model_free(&model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(pages)};
  return cmocka_run_group_tests(tests, install, NULL);
}
