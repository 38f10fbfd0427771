/* A program outside of polhode's tree that reads a model, and asks for a result that is not there.
 */
#include <stdio.h>

#include <polhode/model.h>
#include <polhode/result.h>

int main(void)
{
  const char *text = "{\"bodies\": [{\"name\": \"stone\", \"mass\": 1, \"inertia\": [1, 1, 1]}],"
                     " \"simulation\": {\"step\": 0.1, \"end\": 1}}";
  pol_model *model = NULL;
  pol_result *result = NULL;
  pol_errors errors = {0};
  char message[200];
  if (pol_model_read_text(&model, text, 0, NULL, &errors) != POL_OK) return 1;
  printf("bodies: %d\n", pol_mechanism_num_bodies(model->mechanism));
  pol_model_free(&model);
  return pol_result_open(&result, "missing.h5", message, sizeof message) == POL_IO ? 0 : 1;
}
