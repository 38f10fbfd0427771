/* No method is wrong without saying so on models at the edge of what can be computed: a part of the
 * table in docs/robustness.md, the first and the last column of each row. */
#include "robustness.h"

#include "check.h"

static void nothing_is_wrong_without_a_word(void **state)
{
  (void)state;
  int right = 0, all = 0;
  for (int s = 0; s < ROBUST_SCENES; s++) {
    const robust_scene *scene = &robust_scenes[s];
    const int places[] = {0, scene->count - 1};
    for (int p = 0; p < 2; p++)
      for (int m = 0; m < ROBUST_METHODS; m++) {
        double parameter = scene->parameters[places[p]];
        robust_result r = robust_try(scene, parameter, &robust_methods[m]);
        if (r.verdict == ROBUST_WRONG)
          fail_msg("%s, %g, %s: wrong by %g m %s", scene->title, parameter, robust_methods[m].title,
                   r.error, r.message);
        right += r.verdict == ROBUST_RIGHT;
        all++;
      }
  }
  /* refusals and failures are no way out */
  assert_true(right > 0.8 * all);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_wrong_without_a_word)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
