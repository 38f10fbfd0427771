/* polhode mesh: files of a finite element mesh of polhode's own. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/mesh_files.h>

#include "cli/cli.h"
#include "cli/json_out.h"
#include "cli/terminal.h"

/* The options by the keys of a mesh in a model file. */
static const struct {
  const char *key, *option;
} options_of_keys[] = {{"section", "--size"},
                       {"points", "--size"},
                       {"size", "--size"},
                       {"elements", "--elements"},
                       {"divisions", "--elements"},
                       {"material.young", "--young"},
                       {"material.density", "--density"},
                       {"material.poisson", "--poisson"},
                       {"material", "--poisson"}};

/* A number or a list of numbers, "1,0.02,0.01"; NULL if the text is neither. */
static json_t *read_numbers(const char *text)
{
  char *list = cli_format("[%s]", text);
  json_t *numbers = list != NULL ? json_loads(list, 0, NULL) : NULL;
  size_t index;
  json_t *item;
  int valid = json_array_size(numbers) > 0;
  json_array_foreach(numbers, index, item) valid &= json_is_number(item);
  free(list);
  if (valid) return numbers;
  json_decref(numbers);
  return NULL;
}

/* The mesh as in a model file; NULL after an error, which is reported in errors. */
static json_t *describe_mesh(const cli_args *args, pol_errors *errors)
{
  const int is_beam = strcmp(args->operand, "beam") == 0;
  const struct {
    const char *option, *text;
    size_t least, most;
    const char *rule;
  } wanted[] = {
      {"--size", args->size, 3, 3,
       "must be 3 numbers, such as 1,0.02,0.01 (0.1, not .1): length, width, height"},
      {"--elements", args->elements, 1, is_beam ? 1 : 3,
       is_beam ? "must be one whole number, such as 20: a beam has elements along x only"
               : "must be 1 to 3 whole numbers, such as 20 or 20,2,1"},
      {"--young", args->young, 1, 1, "must be a number, in Pa"},
      {"--density", args->density, 1, 1, "must be a number, in kg/m^3"},
      {"--poisson", args->poisson != NULL ? args->poisson : "0.3", 1, 1, "must be a number"}};
  json_t *values[5] = {NULL};
  for (int i = 0; i < 5; i++) {
    const char *text = wanted[i].text != NULL ? wanted[i].text : "";
    values[i] = read_numbers(text);
    const size_t count = json_array_size(values[i]);
    if (count < wanted[i].least || count > wanted[i].most)
      pol_errors_add(errors, wanted[i].option, text, wanted[i].rule, "");
  }
  json_t *mesh = NULL;
  if (errors->count == 0) {
    json_t *material =
        json_pack("{s:O, s:O, s:O}", "young", json_array_get(values[2], 0), "density",
                  json_array_get(values[3], 0), "poisson", json_array_get(values[4], 0));
    if (is_beam)
      mesh = json_pack("{s:s, s:[[iii],[Oii]], s:O, s:{s:s, s:O, s:O}, s:o}", "type", "beam",
                       "points", 0, 0, 0, json_array_get(values[0], 0), 0, 0, "elements",
                       json_array_get(values[1], 0), "section", "type", "rectangle", "width",
                       json_array_get(values[0], 1), "height", json_array_get(values[0], 2),
                       "material", material);
    else
      mesh = json_pack("{s:s, s:O, s:O, s:o}", "type", args->operand, "size", values[0],
                       "divisions", values[1], "material", material);
  }
  for (int i = 0; i < 5; i++) json_decref(values[i]);
  return mesh;
}

/* Names of keys become those of options. */
static void name_options(pol_errors *errors)
{
  for (int i = 0; i < errors->count; i++)
    for (size_t k = 0; k < sizeof options_of_keys / sizeof *options_of_keys; k++) {
      const size_t length = strlen(options_of_keys[k].key);
      if (strncmp(errors->items[i].path, options_of_keys[k].key, length) != 0) continue;
      char *path = cli_format("%s", options_of_keys[k].option);
      if (path == NULL) return;
      free(errors->items[i].path);
      errors->items[i].path = path;
      break;
    }
}

static int write_files(const cli_args *args, const pol_finite_elements *elements)
{
  char *files[3] = {cli_format("%s_mass.mtx", args->out), cli_format("%s_stiffness.mtx", args->out),
                    cli_format("%s_nodes.csv", args->out)};
  const char *failed = args->out;
  int exit_status = CLI_FAILED;
  if (files[0] != NULL && files[1] != NULL && files[2] != NULL) {
    const pol_status status =
        pol_finite_elements_write(elements, files[0], files[1], files[2], &failed);
    exit_status = status == POL_OK
                      ? CLI_DONE
                      : cli_cannot_write("polhode mesh", args->json, "--out", failed, errno);
  }
  if (exit_status == CLI_DONE && args->json)
    exit_status = cli_json_print(json_pack(
                      "{s:s, s:i, s:i, s:o, s:o, s:o}", "status", "done", "nodes",
                      elements->num_nodes, "freedoms", elements->freedoms * elements->num_nodes,
                      "mass_matrix", cli_json_text(files[0]), "stiffness_matrix",
                      cli_json_text(files[1]), "nodes_file", cli_json_text(files[2]))) == 0
                      ? CLI_DONE
                      : CLI_FAILED;
  else if (exit_status == CLI_DONE && !args->quiet) {
    cli_print_row("nodes", "%d, %d freedoms each", elements->num_nodes, elements->freedoms);
    for (int i = 0; i < 3; i++) cli_print_row("written", "%s", files[i]);
  }
  for (int i = 0; i < 3; i++) free(files[i]);
  return exit_status;
}

static int run_mesh(const cli_args *args)
{
  pol_errors errors = {0};
  pol_finite_elements *elements = NULL;
  if (args->operand == NULL ||
      (strcmp(args->operand, "beam") != 0 && strcmp(args->operand, "plate") != 0 &&
       strcmp(args->operand, "block") != 0))
    return cli_refuse_one("polhode mesh", args->json, "type",
                          args->operand != NULL ? args->operand : "",
                          "must be beam, plate or block");
  if (args->out == NULL || *args->out == '\0')
    return cli_refuse_one("polhode mesh", args->json, "--out", "",
                          "is required: the start of the names of the files");
  json_t *mesh = describe_mesh(args, &errors);
  char *text = mesh != NULL ? json_dumps(mesh, JSON_REAL_PRECISION(17)) : NULL;
  pol_status status = errors.count > 0 ? POL_BAD_ARGUMENT : POL_NO_MEMORY;
  if (text != NULL) status = pol_finite_elements_from_text(&elements, text, &errors);
  json_decref(mesh);
  free(text);
  if (status == POL_BAD_ARGUMENT) {
    name_options(&errors);
    return cli_refuse("polhode mesh", args->json, &errors);
  }
  if (status != POL_OK) {
    fprintf(stderr, "polhode mesh: %s\n", pol_status_text(status));
    return CLI_FAILED;
  }
  const int exit_status = write_files(args, elements);
  pol_finite_elements_free(&elements);
  return exit_status;
}

static const cli_option mesh_options[] = {
    {"--size", "LENGTH,WIDTH,HEIGHT", "along x, y and z, m", CLI_TEXT, offsetof(cli_args, size),
     NULL},
    {"--elements", "N,...", "elements along x, and, of plates and blocks, along y and z", CLI_TEXT,
     offsetof(cli_args, elements), NULL},
    {"--young", "PASCAL", "Young's modulus", CLI_TEXT, offsetof(cli_args, young), NULL},
    {"--poisson", "NUMBER", "Poisson's ratio (default: 0.3)", CLI_TEXT, offsetof(cli_args, poisson),
     NULL},
    {"--density", "NUMBER", "kg/m^3", CLI_TEXT, offsetof(cli_args, density), NULL},
    {"--out", "NAME", "write NAME_mass.mtx, NAME_stiffness.mtx and NAME_nodes.csv", CLI_TEXT,
     offsetof(cli_args, out), NULL},
    CLI_JSON_OPTION,
};

const cli_command cli_mesh = {
    .name = "mesh",
    .summary = "write the matrices of a beam, plate or block for a flexible body",
    .operand = "beam|plate|block",
    .text = "Writes the mass and stiffness matrices of a mesh in Matrix Market form, and its\n"
            "nodes, as finite element programs export them: the files of a flexible body in\n"
            "a model. Beams have rotations at their nodes and a rectangular section; plates\n"
            "and blocks are made of hexahedra.",
    .examples =
        "  polhode mesh beam --size 1,0.02,0.01 --elements 20 --young 2.1e11 --density 7800 "
        "--out rod\n"
        "  polhode mesh plate --size 0.4,0.3,0.005 --elements 16,12 --young 7e10 --density "
        "2700 --out plate",
    .options = mesh_options,
    .num_options = sizeof mesh_options / sizeof mesh_options[0],
    .run = run_mesh,
};
