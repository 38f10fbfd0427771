/* Mutates command lines, word by word: options that there are, with values of
 * all kinds.  Every fourth change is one of bytes. */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "mutate_lines.h"

/* Any option of any command, at times with its value in the same word. */
static void put_option(char *word, size_t size)
{
  int commands = 0, options = 0;
  while (cli_command_at(commands) != NULL) commands++;
  const cli_command *command = cli_command_at((int)lines_pick((unsigned)commands));
  while (cli_command_option(command, options) != NULL) options++;
  const cli_option *option = cli_command_option(command, (int)lines_pick((unsigned)options));
  snprintf(word, size, "%s%s", option->name, lines_pick(4) == 0 ? "=" : "");
}

static void put_value(char *word, size_t size)
{
  static const char *const values[] = {"model.json",
                                       "result.h5",
                                       "table.csv",
                                       "a.svg",
                                       "a.png",
                                       "a.html",
                                       "a.csv",
                                       "a.h5",
                                       "vtk",
                                       "--",
                                       "-h",
                                       "-",
                                       "*",
                                       "?",
                                       "*.x",
                                       "**a**",
                                       "ball",
                                       "ball.position",
                                       "ball.position.x",
                                       "rod.quaternion",
                                       "energy.*",
                                       "t",
                                       "residual",
                                       "0",
                                       "1",
                                       "-1",
                                       "2",
                                       "3",
                                       "0.01",
                                       "0.02,0.01",
                                       "1e-3,1e-4,1e-5",
                                       "1e-300",
                                       "1e300",
                                       "nan",
                                       "inf",
                                       "-0",
                                       "99999999999",
                                       "9223372036854775808",
                                       "300x200",
                                       "1x1",
                                       "0x0",
                                       "100000x100000",
                                       "1e9x2",
                                       "auto",
                                       "always",
                                       "never",
                                       "unit",
                                       "quantity",
                                       "one",
                                       "bash",
                                       "zsh",
                                       "stabilized-2",
                                       "geom1",
                                       "vi-a,em,rattle",
                                       "all",
                                       "so3xr3",
                                       "se3,directors,tait-bryan",
                                       "simulation.step=1e-9",
                                       "simulation.end=1e9",
                                       "simulation.rho_inf=0",
                                       "simulation.output={\"step\":1}",
                                       "bodies[0].mass=1e300",
                                       "bodies.rod.inertia=[1,1,1]",
                                       "bodies[1]=null",
                                       "joints.hinge.axis=[0,0,0]",
                                       "a.b.c[3]=4",
                                       "bodies[99999999999].mass=1",
                                       "bodies[-1].mass=1",
                                       "=",
                                       "a=",
                                       "=b",
                                       "simulation.events=[]",
                                       "events=[{\"name\":\"e\",\"expression\":\"t-0.02\"}]",
                                       "\xff",
                                       "\033[31m",
                                       "%s%n",
                                       ""};
  snprintf(word, size, "%s", values[lines_pick(sizeof values / sizeof values[0])]);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
  lines all;
  if (!lines_begin(&all, data, size, seed)) return LLVMFuzzerMutate(data, size, most);
  for (unsigned i = 1 + lines_pick(4); i > 0; i--) {
    char word[200];
    if (lines_pick(2))
      put_option(word, sizeof word);
    else
      put_value(word, sizeof word);
    if (lines_pick(8) == 0 && all.count > 0) { /* another command with these arguments */
      snprintf(word, sizeof word, "%s", cli_command_at((int)lines_pick(12))->name);
      lines_set(&all, 0, word);
    } else {
      lines_change(&all, word);
    }
  }
  return lines_end(&all, data, most);
}
