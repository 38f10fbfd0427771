/* Mutates command lines, word by word: options that there are, most of them options of the command
 * with a value that fits, others with values of all kinds.  Every fourth change is one of bytes. */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "mutate_lines.h"

#define ANY(list) list[lines_pick(sizeof list / sizeof list[0])]

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
  snprintf(word, size, "%s", ANY(values));
}

/* A value of the kind that an option takes: cli/args.h explains the names of kinds. */
static void put_fitting(const char *kinds, char *word, size_t size)
{
  static const char *const numbers[] = {"0.01", "0.02", "1e-4", "0.005,0.01", "0.05:0.01:3", "2"};
  static const char *const counts[] = {"1", "2", "3", "5"};
  static const char *const methods[] = {"geom1", "vi-a", "vi-b", "em", "rattle", "geom1,em", "all"};
  static const char *const coordinates[] = {"so3xr3",           "se3",        "so3xr3-spatial",
                                            "euler-parameters", "tait-bryan", "se3,directors"};
  static const char *const quantities[] = {"ball.position", "*", "t", "rod", "rod.*.x,ball"};
  char kind[80] = "";
  for (const char *next = kinds; (next = cli_next_name(next, word, size)) != NULL;)
    if (kind[0] == '\0' || lines_pick(2)) snprintf(kind, sizeof kind, "%s", word);
  const char *end = strchr(kind, '.');
  if (cli_is_word(kind))
    snprintf(word, size, "%s", kind);
  else if (strcmp(kind, "MODEL.json") == 0)
    snprintf(word, size, "model.json");
  else if (end != NULL)
    snprintf(word, size, "a%s", end);
  else if (strcmp(kind, "RESULT") == 0)
    snprintf(word, size, "%s", lines_pick(2) ? "result.h5" : "table.csv");
  else if (strcmp(kind, "METHOD") == 0)
    snprintf(word, size, "%s", ANY(methods));
  else if (strcmp(kind, "FORMULATION") == 0)
    snprintf(word, size, "%s", ANY(coordinates));
  else if (strcmp(kind, "QUANTITY") == 0)
    snprintf(word, size, "%s", ANY(quantities));
  else if (strcmp(kind, "N") == 0)
    snprintf(word, size, "%s", ANY(counts));
  else if (strcmp(kind, "SECONDS") == 0 || strcmp(kind, "NUMBER") == 0 || strcmp(kind, "T") == 0)
    snprintf(word, size, "%s", ANY(numbers));
  else
    put_value(word, size);
}

/* An option, of the command or any other, at times with its value in the same word. */
static void put_option(const lines *all, char *word, size_t size)
{
  int commands = 0, options = 0, own = -1;
  for (; cli_command_at(commands) != NULL; commands++)
    if (all->count > 0 && strcmp(cli_command_at(commands)->name, all->items[0]) == 0)
      own = commands;
  if (own < 0 || lines_pick(8) == 0) own = (int)lines_pick((unsigned)commands);
  const cli_command *command = cli_command_at(own);
  while (cli_command_option(command, options) != NULL) options++;
  const cli_option *option = cli_command_option(command, (int)lines_pick((unsigned)options));
  char value[200] = "";
  const char *sign = "";
  if (option->argument != NULL && lines_pick(8) != 0) {
    sign = "=";
    if (lines_pick(4) != 0)
      put_fitting(option->argument, value, sizeof value);
    else
      put_value(value, sizeof value);
  }
  snprintf(word, size, "%s%s%s", option->name, sign, value);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
  lines all;
  if (!lines_begin(&all, data, size, seed)) return LLVMFuzzerMutate(data, size, most);
  for (unsigned i = 1 + lines_pick(4); i > 0; i--) {
    char word[300];
    if (lines_pick(2))
      put_option(&all, word, sizeof word);
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
