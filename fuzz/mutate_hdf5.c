/* Mutates HDF5 files, as fuzz_hdf5.c describes them: another type, shape, place or
 * value in a line, lines that are missing or twice.  Every fourth change is one of bytes. */
#define _POSIX_C_SOURCE 200809L

#include "mutate_lines.h"

static const char *const kinds[] = {"attribute", "dataset", "group", "link"};
static const char *const places[] = {"format",
                                     "version",
                                     "model_name",
                                     "/run/rows",
                                     "/run/status",
                                     "/run/failure",
                                     "/run/model",
                                     "/run/overrides",
                                     "/run/settings",
                                     "/events",
                                     "/run",
                                     "/channels",
                                     "/channels/datasets",
                                     "/channels/order",
                                     "/time",
                                     "/time@units",
                                     "/bodies/names",
                                     "/bodies/position",
                                     "/bodies/position@units",
                                     "/bodies/position@axes",
                                     "/bodies/quaternion",
                                     "/coordinates/names",
                                     "/coordinates/units",
                                     "/coordinates/objects",
                                     "/coordinates/value",
                                     "/momentum/linear",
                                     "/momentum/linear@axes",
                                     "/"};
static const char *const types[] = {"i8",
                                    "i16",
                                    "i32",
                                    "i64",
                                    "u8",
                                    "u64",
                                    "f32",
                                    "f64",
                                    "s1",
                                    "s3",
                                    "s8",
                                    "s40",
                                    "s4096",
                                    "a9",
                                    "text",
                                    "{t:f64;row:i64;action:s7;name:s8}",
                                    "{t:f64;row:i64;action:s7;name:s1}",
                                    "{t:f64;row:i64;action:s40;name:text}",
                                    "{name:s8}",
                                    "{t:s8;row:f64;action:i8;name:s2}"};
static const char *const shapes[] = {".",
                                     "-",
                                     "0",
                                     "1",
                                     "2",
                                     "3",
                                     "4",
                                     "11",
                                     "12",
                                     "3+",
                                     "3x3",
                                     "3x3+",
                                     "3x1+",
                                     "3x4+",
                                     "2x3+",
                                     "3x2+",
                                     "3x2x3+",
                                     "3x2x4+",
                                     "3x1000000000x3+",
                                     "0x3+",
                                     "3x0",
                                     "1x1x1",
                                     "2x2x2+",
                                     "3x2147483648+",
                                     "1000000000000+",
                                     "1000000000000x3+",
                                     "9223372036854775807",
                                     "4000"};
static const char *const values[] = {"",
                                     "0",
                                     "1",
                                     "3",
                                     "-1",
                                     "4",
                                     "nan",
                                     "inf",
                                     "1e308",
                                     "2147483648",
                                     "9223372036854775807",
                                     "1000000000000",
                                     "/bodies/position",
                                     "/coordinates/value",
                                     "/momentum/linear",
                                     "/",
                                     "",
                                     "//",
                                     "/.",
                                     "/run/rows",
                                     "/time",
                                     "t",
                                     "polhode result 1",
                                     "ball.position.x",
                                     "ball.position.y",
                                     "marker.a.position.x",
                                     ".position.x",
                                     ".",
                                     "\033[31m",
                                     "\xff\xfe",
                                     "done",
                                     "failed",
                                     "{}",
                                     "[",
                                     "{\"method\":1}",
                                     "simulation.step=0",
                                     "a=b",
                                     "=",
                                     "{\"bodies\":[]}",
                                     "stop",
                                     "reset"};

#define ANY(list) list[lines_pick(sizeof list / sizeof list[0])]

/* Field number `which` of a line: where it starts, and its length. */
static char *find_field(char *line, int which, size_t *length)
{
  for (; which > 0 && *line != '\0'; which--) {
    line += strcspn(line, " ");
    line += *line == ' ';
  }
  *length = strcspn(line, " ");
  return line;
}

/* One of the values of a line, which are separated by |. */
static char *find_value(char *line, size_t *length)
{
  char *at = find_field(line, 4, length);
  unsigned count = 1;
  for (const char *c = at; *c != '\0'; c++) count += *c == '|';
  for (unsigned k = lines_pick(count); k > 0; k--) at = strchr(at, '|') + 1;
  *length = strcspn(at, "|");
  return at;
}

static void change_line(lines *all)
{
  static char line[9000];
  char *old, *at;
  const int index = (int)lines_pick((unsigned)all->count);
  size_t length;
  const char *text;
  old = all->items[index];
  switch (lines_pick(9)) {
  case 0:
    at = find_field(old, 0, &length);
    text = ANY(kinds);
    break;
  case 1:
    at = find_field(old, 1, &length);
    text = ANY(places);
    break;
  case 2:
  case 3:
    at = find_field(old, 2, &length);
    text = ANY(types);
    break;
  case 4:
  case 5:
    at = find_field(old, 3, &length);
    text = ANY(shapes);
    break;
  default:
    at = find_value(old, &length);
    text = ANY(values);
  }
  if (strlen(old) + strlen(text) + 1 > sizeof line) return;
  snprintf(line, sizeof line, "%.*s%s%s", (int)(at - old), old, text, at + length);
  lines_set(all, index, line);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
  lines all;
  char line[200];
  if (!lines_begin(&all, data, size, seed)) return LLVMFuzzerMutate(data, size, most);
  for (unsigned i = 1 + lines_pick(3); i > 0; i--) {
    if (all.count > 0 && lines_pick(4) != 0) {
      change_line(&all);
      continue;
    }
    snprintf(line, sizeof line, "%s %s %s %s %s", kinds[lines_pick(2)], ANY(places), ANY(types),
             ANY(shapes), ANY(values));
    lines_change(&all, line);
  }
  return lines_end(&all, data, most);
}
