/* polhode completion: what a bash offers after words on the command line, in a bash itself, and
 * that a zsh, where it is installed, can read its script.
 */
#define _XOPEN_SOURCE 700

#include "cli/cli_test.h"

/* Completes as bash does and prints what it offers on one line. */
static const char script[] =
    "set -u\n"
    "source ./polhode.bash\n"
    "complete -p polhode\n"
    "try() {\n"
    "  COMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1)) COMPREPLY=()\n"
    "  _polhode\n"
    "  local found=\n"
    "  ((${#COMPREPLY[@]} == 0)) || found=$(printf '%s|' \"${COMPREPLY[@]}\")\n"
    "  echo \"$*: $found\"\n"
    "}\n"
    "try polhode ru\n"
    "try polhode --\n"
    "try polhode run --m\n"
    "try polhode run top.json --method geom\n"
    "try polhode run --method = geom\n"
    "try polhode run --formulation se\n"
    "try polhode run --formulation =\n"
    "try polhode run top.json --color ''\n"
    "try polhode run ''\n"
    "try polhode run top.json --out ''\n"
    "try polhode run --step ''\n"
    "try polhode run --set simulation.st\n"
    "try polhode run --set = simulation.newton.t\n"
    "try polhode check sub/\n"
    "try polhode methods ''\n"
    "try polhode help me\n"
    "try polhode completion ''\n"
    "try polhode unknown ''\n";

static const char *const expected[] = {
    "complete -F _polhode polhode\n",
    "\npolhode ru: run|\n",
    "\npolhode --: --help|--version|\n",
    "\npolhode run --m: --method|\n",
    "\npolhode run top.json --method geom: geom1|geom2|geom3|\n",
    "\npolhode run --method = geom: geom1|geom2|geom3|\n",
    "\npolhode run --formulation se: se3|\n",
    "\npolhode run --formulation =: so3xr3|se3|",
    "\npolhode run top.json --color : auto|always|never|\n",
    "\npolhode run : sub|a top.json|top.json|\n",
    "\npolhode run top.json --out : sub|old.csv|\n",
    "\npolhode run --step : \n",
    "\npolhode run --set simulation.st: "
    "simulation.step=|simulation.start=|simulation.steps=|\n",
    "\npolhode run --set = simulation.newton.t: simulation.newton.tolerance=|\n",
    "\npolhode check sub/: sub/inner.json|\n",
    "\npolhode methods : --json|--quiet|--color|--help|\n",
    "\npolhode help me: methods|mesh|\n",
    "\npolhode completion : bash|zsh|\n",
    "\npolhode unknown : \n",
};

static void bash_completes(void **state)
{
  (void)state;
  expect("polhode completion bash", 0);
  assert_string_equal(err, "");
  write_text("polhode.bash", out);
  write_text("script", script);
  write_text("a top.json", heavy_top);
  write_text("old.csv", "t\n");
  assert_int_equal(mkdir("sub", 0700), 0);
  write_text("sub/inner.json", heavy_top);
  int status = run_shell("bash --norc --noprofile script 2>&1");
  remove("sub/inner.json");
  if (status != 0) fail_msg("bash: exit status %d: %s", status, out);
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) expect_text(out, expected[i]);
}

/* Every command and every option stands in the script, with its help. */
static void zsh_knows_all_options(void **state)
{
  (void)state;
  expect("polhode help --json", 0);
  json_t *all = parse_output(), *command, *option;
  size_t index, k;
  expect("polhode completion zsh", 0);
  assert_ptr_equal(strstr(out, "#compdef polhode\n"), out);
  const char *place = strstr(out, "  case $command in\n");
  json_array_foreach(at(all, "commands"), index, command)
  {
    char text[100];
    snprintf(text, sizeof text, "\n    %s)\n", json_string_value(at(command, "name")));
    assert_non_null(place);
    place = strstr(place, text);
    json_array_foreach(at(command, "options"), k, option)
    {
      const char *argument = json_string_value(json_object_get(option, "argument"));
      snprintf(text, sizeof text, "%s%s[", json_string_value(at(option, "name")),
               argument != NULL ? "=" : "");
      assert_non_null(place);
      place = strstr(place, text);
    }
    assert_non_null(place);
  }
  json_decref(all);
  expect_text(out, ":METHOD:( geom1 geom2 ");
  expect_text(out, ":KEY=VALUE:_polhode_paths name= gravity= simulation.step= ");
  expect_text(out, "'1:MODEL.json:_polhode_files json'\n");
  write_text("_polhode", out);
  if (run_shell("command -v zsh") == 0) assert_int_equal(run_shell("zsh -f -n _polhode 2>&1"), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bash_completes),
      cmocka_unit_test(zsh_knows_all_options),
  };
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
