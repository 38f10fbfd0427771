/* How each family of methods handles extreme models, as a page in Markdown on standard output
 * (`make robustness` writes docs/robustness.md).  Exit status 1 if a run was wrong without a
 * warning. */
#include "robustness.h"

static const char *const marks[] = {"right", "refused", "failed", "warned", "**wrong**"};

static const char head[] =
    "# Robustness\n"
    "\n"
    "This page shows how each family of methods handles extreme models: stiff dampers and "
    "springs,\n"
    "very small and very large masses and lengths, singular and nearly singular positions, and\n"
    "constraints that are redundant only during a part of the run. The program "
    "`studies/robustness.c`\n"
    "(`make robustness`) generates it. A part of it runs in the tests (`test_robustness.c`); both "
    "fail\n"
    "if a cell is *wrong*.\n"
    "\n"
    "| cell | meaning |\n"
    "|---|---|\n"
    "| right | the final position of the last body is correct within the tolerance of the table |\n"
    "| refused | the method does not support the model; a reason is given |\n"
    "| failed | the run stopped with a message that states the reason; the result up to then is "
    "kept |\n"
    "| warned | the result is wrong, with a warning |\n"
    "| wrong | the result is wrong, without a warning |\n"
    "\n"
    "The reference is a closed-form solution, or a run of geom1, stabilized-2, with a step that\n"
    "resolves the motion.\n";

int main(void)
{
  int count[5] = {0};
  printf("%s", head);
  for (int s = 0; s < ROBUST_SCENES; s++) {
    const robust_scene *scene = &robust_scenes[s];
    char notes[4096] = "";
    printf("\n## %c%s\n\nh = %g s, %g s; right is an error of at most %g m", scene->title[0] - 32,
           scene->title + 1, scene->step, scene->end, scene->tolerance);
    printf("%s.\n\n| %s |", scene->model == robust_length ? " per metre of length" : "",
           scene->parameter);
    for (int p = 0; p < scene->count; p++) printf(" %g |", scene->parameters[p]);
    printf("\n|---|");
    for (int p = 0; p < scene->count; p++) printf("---|");
    printf("\n");
    robust_verdict cell[ROBUST_METHODS][12];
    for (int p = 0; p < scene->count; p++)
      for (int m = 0; m < ROBUST_METHODS; m++) {
        robust_result r = robust_try(scene, scene->parameters[p], &robust_methods[m]);
        cell[m][p] = r.verdict;
        count[r.verdict]++;
        if (r.verdict == ROBUST_WRONG)
          fprintf(stderr, "%s, %g, %s: wrong by %g\n", scene->title, scene->parameters[p],
                  robust_methods[m].title, r.error);
        /* each message once */
        if (r.verdict != ROBUST_RIGHT && r.message[0] != '\0' && !strstr(notes, r.message) &&
            strlen(notes) + strlen(r.message) + 20 < sizeof notes)
          sprintf(notes + strlen(notes), "- %s: %s\n", marks[r.verdict], r.message);
      }
    for (int m = 0; m < ROBUST_METHODS; m++) {
      printf("| %s |", robust_methods[m].title);
      for (int p = 0; p < scene->count; p++) printf(" %s |", marks[cell[m][p]]);
      printf("\n");
    }
    if (notes[0]) printf("\n%s", notes);
  }
  printf("\n## Total\n\n%d right, %d refused, %d failed with a message, %d warned, %d wrong.\n",
         count[ROBUST_RIGHT], count[ROBUST_REFUSED], count[ROBUST_FAILED], count[ROBUST_WARNED],
         count[ROBUST_WRONG]);
  return count[ROBUST_WRONG] > 0;
}
