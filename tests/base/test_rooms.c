/* The rooms keep their borders: what each folder of src may include and call, from the table in
 * docs/architecture.md, checked on the text of every source file and public header; and that page
 * lists the files of each room.
 */
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Lists of words are strings with a blank before and after each word. */
typedef struct room {
  const char *name;
  const char *headers; /* its public headers */
  const char *uses;    /* the rooms whose headers it may include, beside its own */
  const char *outside; /* headers of other libraries, beside those of C itself */
  const char *never;   /* functions of C that it may not call, beside those below */
} room;

static const room rooms[] = {
    {"base", " status.h ", " ", " sys/stat.h ", " malloc calloc realloc "},
    {"lie", " lie.h ", " base ", " ", " malloc calloc realloc "},
    {"linalg", " linalg.h ", " base ", " lapacke.h klu.h ", " "},
    {"dae", " dae.h newton.h ", " base lie linalg ", " ", " "},
    {"mechanism", " mechanism.h ", " base lie ", " ", " "},
    {"formulation", " formulation.h ", " base lie linalg dae mechanism ", " ", " "},
    {"integrators", " integrator.h ", " base lie linalg dae ", " ", " "},
    {"analysis", " simulation.h convergence.h ",
     " base lie linalg dae mechanism formulation integrators ", " pthread.h ", " "},
    {"io", " model.h result.h ", " base lie linalg dae mechanism formulation integrators analysis ",
     " jansson.h hdf5.h zlib.h pthread.h fcntl.h unistd.h sys/stat.h ", " "},
    {"plot", " plot.h ", " base ", " cairo.h ", " "},
    {"viewer", " view.h ", " base lie linalg dae mechanism formulation integrators analysis io ",
     " jansson.h ", " "},
    {"reproduce", " ", " base lie linalg dae mechanism formulation integrators analysis io plot ",
     " jansson.h ", " "},
    {"cli", " polhode.h ",
     " base lie linalg dae mechanism formulation integrators analysis io plot viewer reproduce ",
     " jansson.h dirent.h unistd.h sys/ioctl.h sys/stat.h sys/wait.h ", " "},
};
enum { NUM_ROOMS = sizeof rooms / sizeof rooms[0] };

/* Only the command line prints and exits. */
static const char library_never[] = " printf vprintf puts putchar perror stdout stderr exit _Exit "
                                    "quick_exit abort ";
static const char objects[] = " stdout stderr "; /* the others are functions: a ( must follow */

static const char c_headers[] = " assert.h complex.h ctype.h errno.h fenv.h float.h inttypes.h "
                                "limits.h locale.h math.h setjmp.h signal.h stdarg.h stdbool.h "
                                "stddef.h stdint.h stdio.h stdlib.h string.h tgmath.h time.h ";

static int has_word(const char *list, const char *word)
{
  size_t length = strlen(word);
  for (const char *p = list; (p = strstr(p, word)); p++)
    if (length && p[-1] == ' ' && p[length] == ' ') return 1;
  return 0;
}

static const room *find_room(const char *name)
{
  for (int i = 0; i < NUM_ROOMS; i++)
    if (!strcmp(rooms[i].name, name)) return &rooms[i];
  return NULL;
}

static const room *find_room_of_header(const char *header)
{
  for (int i = 0; i < NUM_ROOMS; i++)
    if (has_word(rooms[i].headers, header)) return &rooms[i];
  return NULL;
}

static int may_use(const room *from, const room *to)
{
  return to && (from == to || has_word(from->uses, to->name));
}

/* --- the checks ------------------------------------------------------------------------------- */

/* May a file of this room include <header>? */
static int may_include_angled(const room *from, const char *header)
{
  static const char ours[] = "polhode/";
  if (!strncmp(header, ours, sizeof ours - 1))
    return may_use(from, find_room_of_header(header + sizeof ours - 1));
  return has_word(c_headers, header) || has_word(from->outside, header);
}

/* May it include "header"?  Either "room/file.h" or, in its own folder, "file.h". */
static int may_include_quoted(const room *from, const char *header)
{
  const char *slash = strchr(header, '/');
  char name[64];
  if (!slash) return 1;
  snprintf(name, sizeof name, "%.*s", (int)(slash - header), header);
  return may_use(from, find_room(name));
}

/* The include lines of a text that break the table; each is printed. */
static int count_bad_includes(const room *from, const char *file, const char *text)
{
  int bad = 0;
  for (const char *line = text; line; line = strchr(line, '\n')) {
    char open, header[160];
    line += strspn(line, "\n");
    if (sscanf(line, " # include %c%159[^>\"]", &open, header) != 2) continue;
    if (open == '<' ? may_include_angled(from, header) : may_include_quoted(from, header)) continue;
    print_error("%s: room '%s' may not include %s\n", file, from->name, header);
    bad++;
  }
  return bad;
}

/* Overwrites comments, strings and characters by blanks. */
static void blank_out(char *text)
{
  for (char *p = text; *p;) {
    size_t length = 1;
    if (!strncmp(p, "/*", 2)) {
      const char *end = strstr(p + 2, "*/");
      length = end ? (size_t)(end - p) + 2 : strlen(p);
    } else if (*p == '"' || *p == '\'') {
      while (p[length] && p[length] != *p) length += p[length] == '\\' && p[length + 1] ? 2 : 1;
      length += p[length] != '\0';
    } else {
      p++;
      continue;
    }
    memset(p, ' ', length);
    p += length;
  }
}

/* May code of this room use this word, with this text after it? */
static int may_say(const room *from, const char *word, const char *after)
{
  int is_library = strcmp(from->name, "cli") != 0;
  if (after[strspn(after, " \n")] != '(' && !has_word(objects, word)) return 1;
  return !has_word(from->never, word) && !(is_library && has_word(library_never, word));
}

/* The words of a text that the room may not use; each is printed. */
static int count_bad_words(const room *from, const char *file, char *text)
{
  int bad = 0;
  blank_out(text);
  for (char *p = text; *p;) {
    char word[80];
    size_t length = 0;
    while (isalnum((unsigned char)p[length]) || p[length] == '_') length++;
    snprintf(word, sizeof word, "%.*s", (int)length, p);
    if (length && !may_say(from, word, p + length)) {
      print_error("%s: room '%s' may not use %s\n", file, from->name, word);
      bad++;
    }
    p += length ? length : 1;
  }
  return bad;
}

/* --- reading the tree ------------------------------------------------------------------------- */

static char *read_text(const char *path)
{
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  assert_int_equal(fseek(file, 0, SEEK_END), 0);
  long size = ftell(file);
  assert_true(size >= 0);
  rewind(file);
  char *text = malloc((size_t)size + 1);
  assert_non_null(text);
  assert_int_equal(fread(text, 1, (size_t)size, file), size);
  text[size] = '\0';
  fclose(file);
  return text;
}

static int is_source(const char *name)
{
  const char *dot = strrchr(name, '.');
  return dot && (!strcmp(dot, ".c") || !strcmp(dot, ".h"));
}

/* Checks the sources of one folder.  For a public header the room is that of the header. */
static int check_folder(const char *folder, const room *owner, int *num_files)
{
  int bad = 0;
  DIR *directory = opendir(folder);
  assert_non_null(directory);
  for (const struct dirent *entry; (entry = readdir(directory));) {
    char path[4096];
    if (!is_source(entry->d_name)) continue;
    const room *from = owner ? owner : find_room_of_header(entry->d_name);
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (!from) {
      print_error("%s: belongs to no room\n", path);
      bad++;
      continue;
    }
    char *text = read_text(path);
    bad += count_bad_includes(from, path, text) + count_bad_words(from, path, text);
    free(text);
    ++*num_files;
  }
  closedir(directory);
  return bad;
}

/* The table of a room in the page, up to the empty line after it; the caller frees it. */
static char *files_table(const char *page, const char *name)
{
  char head[80];
  snprintf(head, sizeof head, "\n| `src/%s` | |\n", name);
  const char *start = strstr(page, head), *end = start ? strstr(start + 1, "\n\n") : NULL;
  if (!end) fail_msg("docs/architecture.md has no table of the files of src/%s", name);
  start += strlen(head);
  return strndup(start, (size_t)(end - start));
}

/* Files of a room that its table lacks; each is printed. */
static int count_unlisted(const char *table, const char *room_name)
{
  char folder[4096];
  int missing = 0;
  snprintf(folder, sizeof folder, "%s/src/%s", POLHODE_SOURCE_DIR, room_name);
  DIR *directory = opendir(folder);
  assert_non_null(directory);
  for (const struct dirent *entry; (entry = readdir(directory));) {
    char quoted[300];
    if (!is_source(entry->d_name)) continue;
    snprintf(quoted, sizeof quoted, "`%.*s`", (int)strcspn(entry->d_name, "."), entry->d_name);
    if (strstr(table, quoted)) continue;
    print_error("docs/architecture.md: the table of src/%s lacks %s\n", room_name, quoted);
    missing++;
  }
  closedir(directory);
  return missing;
}

/* Names of a table, which stand between backquotes, that no file has; each is printed. */
static int count_gone(const char *table, const char *room_name)
{
  int gone = 0;
  for (const char *p = table; (p = strchr(p, '`')); p++) {
    const int length = (int)strcspn(p + 1, "`");
    int found = 0;
    for (int i = 0; i < 2; i++) {
      char path[4096];
      snprintf(path, sizeof path, "%s/src/%s/%.*s.%c", POLHODE_SOURCE_DIR, room_name, length, p + 1,
               "ch"[i]);
      FILE *file = fopen(path, "r");
      found += file != NULL;
      if (file) fclose(file);
    }
    if (!found) print_error("src/%s has no file %.*s\n", room_name, length, p + 1);
    gone += !found;
    p += length + 1;
  }
  return gone;
}

/* --- the tests -------------------------------------------------------------------------------- */

static void sources_keep_their_borders(void **state)
{
  (void)state;
  int bad = 0;
  for (int i = 0; i < NUM_ROOMS; i++) {
    char folder[4096];
    int num_files = 0;
    snprintf(folder, sizeof folder, "%s/src/%s", POLHODE_SOURCE_DIR, rooms[i].name);
    bad += check_folder(folder, &rooms[i], &num_files);
    assert_true(num_files > 0);
  }
  assert_int_equal(bad, 0);
}

static void public_headers_keep_their_borders(void **state)
{
  (void)state;
  int num_files = 0;
  assert_int_equal(check_folder(POLHODE_SOURCE_DIR "/include/polhode", NULL, &num_files), 0);
  assert_true(num_files >= NUM_ROOMS);
}

/* A folder that the table does not know would go unchecked. */
static void every_folder_is_a_room(void **state)
{
  (void)state;
  DIR *directory = opendir(POLHODE_SOURCE_DIR "/src");
  assert_non_null(directory);
  for (const struct dirent *entry; (entry = readdir(directory));)
    if (entry->d_name[0] != '.' && !find_room(entry->d_name))
      fail_msg("src/%s is not in the table of rooms", entry->d_name);
  closedir(directory);
}

/* docs/architecture.md lists the files that there are. */
static void every_file_is_listed(void **state)
{
  (void)state;
  char *page = read_text(POLHODE_SOURCE_DIR "/docs/architecture.md");
  int wrong = 0;
  for (int i = 0; i < NUM_ROOMS; i++) {
    char *table = files_table(page, rooms[i].name);
    wrong += count_unlisted(table, rooms[i].name) + count_gone(table, rooms[i].name);
    free(table);
  }
  free(page);
  assert_int_equal(wrong, 0);
}

static int bad_includes(const char *name, const char *text)
{
  return count_bad_includes(find_room(name), "(example)", text);
}

static int bad_words(const char *name, const char *code)
{
  char text[256];
  snprintf(text, sizeof text, "%s", code);
  return count_bad_words(find_room(name), "(example)", text);
}

/* The check itself: what it must find and what it must let pass. */
static void forbidden_includes_are_found(void **state)
{
  (void)state;
  assert_int_equal(bad_includes("lie", "#include <polhode/linalg.h>\n"), 1);
  assert_int_equal(bad_includes("linalg", "\n\n#include \"dae/newton.h\"\n"), 1);
  assert_int_equal(bad_includes("integrators", "#include <polhode/mechanism.h>\n"), 1);
  assert_int_equal(bad_includes("integrators", "#  include <polhode/polhode.h>\n"), 1);
  assert_int_equal(bad_includes("mechanism", "#include <jansson.h>\n#include <klu.h>\n"), 2);
  assert_int_equal(bad_includes("io", "#include \"cli/cli.h\""), 1);

  assert_int_equal(bad_includes("lie", "#include <math.h>\n#include <polhode/status.h>\n"), 0);
  assert_int_equal(bad_includes("dae", "#include \"lie/small.h\"\n#include \"dae/n.h\"\n"), 0);
  assert_int_equal(bad_includes("linalg", "#include \"dense.h\"\n#include <klu.h>\n"), 0);
}

static void forbidden_words_are_found(void **state)
{
  (void)state;
  assert_int_equal(bad_words("io", "if (x) { printf(\"%d\", x); exit(1); }"), 2);
  assert_int_equal(bad_words("dae", "fputs(text, stderr);"), 1);
  assert_int_equal(bad_words("lie", "double *x = malloc(8);"), 1);

  assert_int_equal(bad_words("io", "/* exit */ fprintf(file, \"\\\"exit(1) %s\", \"abort\");"), 0);
  assert_int_equal(bad_words("io", "int exit_code = my_exit(1); char c = '\"'; snprintf(s);"), 0);
  assert_int_equal(bad_words("io", "__attribute__((format(printf, 1, 2)))"), 0);
  assert_int_equal(bad_words("dae", "x = malloc(8);"), 0);
  assert_int_equal(bad_words("cli", "printf(text); exit(1);"), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sources_keep_their_borders),
      cmocka_unit_test(public_headers_keep_their_borders),
      cmocka_unit_test(every_folder_is_a_room),
      cmocka_unit_test(every_file_is_listed),
      cmocka_unit_test(forbidden_includes_are_found),
      cmocka_unit_test(forbidden_words_are_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
