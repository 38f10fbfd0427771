/* The files that a model is made of, and whether they have changed.
 *
 * Files are looked at ten times per second (stat).  This finds what editors do in any way, writing
 * in place or renaming a new file, also on network file systems, where notifications of the system
 * do not arrive. */
#define _XOPEN_SOURCE 700

#include "cli/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/json_out.h"
#include "cli/terminal.h"

int cli_folder_length(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash != NULL ? (int)(slash - path) + 1 : 0;
}

static void sign(const char *path, char text[CLI_SIGNATURE_SIZE])
{
  struct stat file;
  text[0] = '\0';
  if (stat(path, &file) != 0) return;
  snprintf(text, CLI_SIGNATURE_SIZE, "%lld.%09ld %lld %llu", (long long)file.st_mtim.tv_sec,
           file.st_mtim.tv_nsec, (long long)file.st_size, (unsigned long long)file.st_ino);
}

/* Files of a tree, which is in a file of this name; folder is that of the model. */
typedef struct finding {
  json_t *files;
  const char *model, *from;
  int depth;
} finding;

static void find_files(const finding *f, const json_t *tree);

/* Adds a file, and those that it names. */
static void add_file(const finding *f, const char *file)
{
  enum { MOST = 1000, DEEPEST = 32 };
  while (strncmp(file, "./", 2) == 0) file += 2;
  const int absolute = file[0] == '/';
  char *name = cli_format("%.*s%s", absolute ? 0 : cli_folder_length(f->from), f->from, file);
  char *path = name == NULL ? NULL
                            : cli_format("%.*s%s", name[0] == '/' ? 0 : cli_folder_length(f->model),
                                         f->model, name);
  int known = path == NULL || json_array_size(f->files) >= MOST || f->depth > DEEPEST;
  for (size_t i = 0; !known && i < json_array_size(f->files); i++) {
    const json_t *item = json_array_get(f->files, i);
    known = strcmp(json_string_value(json_object_get(item, "path")), path) == 0;
  }
  char signature[CLI_SIGNATURE_SIZE];
  json_t *text_of_path = known ? NULL : json_string(path), *text_of_name = NULL;
  if (text_of_path != NULL) text_of_name = json_string(name);
  if (text_of_name != NULL) {
    sign(path, signature);
    json_array_append_new(f->files, json_pack("{s:o, s:o, s:s}", "path", text_of_path, "name",
                                              text_of_name, "signature", signature));
    json_t *tree = cli_ends_in(path, ".json") ? json_load_file(path, 0, NULL) : NULL;
    const finding inner = {f->files, f->model, name, f->depth + 1};
    find_files(&inner, tree);
    json_decref(tree);
  } else {
    json_decref(text_of_path);
  }
  free(path);
  free(name);
}

/* Every key "file" names one, an included model or a mesh, and every key "fmu". */
static void find_files(const finding *f, const json_t *tree)
{
  const char *key;
  json_t *item;
  size_t index;
  json_object_foreach((json_t *)tree, key, item)
  {
    const int names_file = strcmp(key, "file") == 0 || strcmp(key, "fmu") == 0;
    if (names_file && json_string_length(item) > 0)
      add_file(f, json_string_value(item));
    else
      find_files(f, item);
  }
  json_array_foreach(tree, index, item) find_files(f, item);
}

json_t *cli_files_of_model(const char *model, const json_t *tree)
{
  char signature[CLI_SIGNATURE_SIZE];
  sign(model, signature);
  json_t *first = json_pack("{s:o, s:s, s:s}", "path", cli_json_text(model), "name", "",
                            "signature", signature);
  const finding f = {.files = json_array(), .model = model, .from = ""};
  json_array_append_new(f.files, first);
  find_files(&f, tree);
  return f.files;
}

void cli_watch_free(cli_watch *watch)
{
  for (int i = 0; i < watch->count; i++) free(watch->files[i].path);
  free(watch->files);
  watch->files = NULL;
  watch->count = 0;
}

void cli_watch_set(cli_watch *watch, const json_t *files)
{
  const size_t count = json_array_size(files);
  cli_watched *list = calloc(count + 1, sizeof *list);
  if (list == NULL) return; /* those of before */
  cli_watch_free(watch);
  watch->files = list;
  for (size_t i = 0; i < count; i++) {
    const json_t *item = json_array_get(files, i);
    const char *path = json_string_value(json_object_get(item, "path"));
    const char *signature = json_string_value(json_object_get(item, "signature"));
    cli_watched *own = &list[watch->count];
    if (path == NULL || signature == NULL) continue;
    own->path = cli_format("%s", path);
    snprintf(own->signature, sizeof own->signature, "%s", signature);
    if (own->path != NULL) watch->count++;
  }
}

int cli_watch_changed(cli_watch *watch, double now)
{
  static const double period = 0.1, settled = 0.15, missing = 1.0; /* s */
  int gone = 0;
  if (now < watch->next) return 0;
  watch->next = now + period;
  for (int i = 0; i < watch->count; i++) {
    char signature[CLI_SIGNATURE_SIZE];
    cli_watched *file = &watch->files[i];
    sign(file->path, signature);
    gone |= signature[0] == '\0' && i == 0;
    if (strcmp(signature, file->signature) == 0) continue;
    snprintf(file->signature, sizeof file->signature, "%s", signature);
    watch->changed = 1;
    watch->changed_at = now;
  }
  if (!watch->changed || now - watch->changed_at < (gone ? missing : settled)) return 0;
  watch->changed = 0;
  return 1;
}
