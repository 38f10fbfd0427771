/* Shapes of bodies in a model file: what they look like in pictures.  Their table, the rules
 * between their keys, and their way to the model.  The equations of motion do not see them. */
#include <stdlib.h>
#include <string.h>

#include "io/model/parts.h"
#include "io/model/rules.h"

static const char file_rule[] = "must be the name of a file that ends in .stl or .obj";
static const char color_rule[] = "must be a colour such as \"#0072b2\"";

static const char *const type_names[] = {[POL_BOX] = "box",
                                         [POL_CYLINDER] = "cylinder",
                                         [POL_SPHERE] = "sphere",
                                         [POL_CONE] = "cone",
                                         [POL_MESH] = "mesh"};
enum { NUM_TYPES = sizeof type_names / sizeof *type_names };

const char *pol_shape_type_name(pol_shape_type type)
{
  return (int)type >= 0 && (int)type < NUM_TYPES ? type_names[type] : NULL;
}

static const char *type_choice(int number)
{
  return pol_shape_type_name((pol_shape_type)number);
}

static const poli_choices types = {type_choice};

/* --- values ----------------------------------------------------------------------------------- */

/* double[3], all positive */
static void read_size(poli_reader *reader, const poli_place *place, const poli_field *field,
                      void *target)
{
  static const poli_field edge = {NULL, NULL, 0, POLI_REQUIRED, poli_positive_rule, &poli_positive};
  double *size = target;
  if (json_array_size(place->value) != 3) { /* 0 for what is no list */
    poli_report(reader, place, "", "%s", field->rule);
    return;
  }
  for (size_t i = 0; i < 3; i++) {
    const poli_place item = poli_place_item(place, i);
    poli_read_number(reader, &item, &edge, &size[i]);
  }
}

/* const char *, the name of a mesh file */
static void read_file(poli_reader *reader, const poli_place *place, const poli_field *field,
                      void *target)
{
  const char *text = json_string_value(place->value);
  const size_t length = text ? strlen(text) : 0;
  if (length > 4 &&
      (strcmp(text + length - 4, ".stl") == 0 || strcmp(text + length - 4, ".obj") == 0))
    *(const char **)target = text;
  else
    poli_report(reader, place, "", "%s", field->rule);
}

/* int, 0xrrggbb of "#rrggbb" */
static void read_color(poli_reader *reader, const poli_place *place, const poli_field *field,
                       void *target)
{
  const char *text = json_string_value(place->value);
  if (text && text[0] == '#' && strlen(text) == 7 &&
      strspn(text + 1, "0123456789abcdefABCDEF") == 6)
    *(int *)target = (int)strtol(text + 1, NULL, 16);
  else
    poli_report(reader, place, "", "%s", field->rule);
}

/* --- the table -------------------------------------------------------------------------------- */

static const poli_field shape_fields[] = {
    {"type", poli_read_choice, offsetof(poli_model_shape, type), POLI_REQUIRED,
     "must be a type of shape, such as \"box\"", &types},
    {"size", read_size, offsetof(poli_model_shape, size), POLI_OPTIONAL,
     "must be a list of 3 positive numbers", NULL},
    {"radius", poli_read_number, offsetof(poli_model_shape, radius), POLI_OPTIONAL,
     poli_positive_rule, &poli_positive},
    {"length", poli_read_number, offsetof(poli_model_shape, length), POLI_OPTIONAL,
     poli_positive_rule, &poli_positive},
    {"axis", poli_read_direction, offsetof(poli_model_shape, axis), POLI_OPTIONAL, "", NULL},
    {"file", read_file, offsetof(poli_model_shape, file), POLI_OPTIONAL, file_rule, NULL},
    {"scale", poli_read_number, offsetof(poli_model_shape, scale), POLI_OPTIONAL,
     poli_positive_rule, &poli_positive},
    {"position", poli_read_vector, offsetof(poli_model_shape, position), POLI_OPTIONAL,
     poli_vector_rule, NULL},
    {"rotation", poli_read_rotation, offsetof(poli_model_shape, rotation), POLI_OPTIONAL, "", NULL},
    {"color", read_color, offsetof(poli_model_shape, color), POLI_OPTIONAL, color_rule, NULL},
    {.key = NULL},
};

static const poli_type_keys shape_keys[] = {
    [POL_BOX] = {"a box", {"size"}, {NULL}},
    [POL_CYLINDER] = {"a cylinder", {"radius", "length"}, {"axis"}},
    [POL_SPHERE] = {"a sphere", {"radius"}, {NULL}},
    [POL_CONE] = {"a cone", {"radius", "length"}, {"axis"}},
    [POL_MESH] = {"a mesh", {"file"}, {"scale"}},
};

/* What the type does not have must not be given; what it must have, must. */
static void check_keys(poli_reader *reader, const poli_place *place, const poli_type_keys *keys)
{
  static const char *const common[] = {"type", "position", "rotation", "color", NULL};
  poli_forbid_others(reader, place, shape_fields, common, keys);
  for (const poli_field *field = shape_fields; field->key; field++)
    if (poli_is_listed(field->key, keys->required) && !poli_given(place, field->key))
      poli_report_missing(reader, place, shape_fields, field->key, field->rule);
}

static void check_shape(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  poli_model_shape *shape = object;
  const poli_place axis = poli_place_key(place, "axis");
  if (!poli_given(place, "color")) shape->color = POL_NO_COLOR;
  if (!poli_given(place, "scale")) shape->scale = 1.0;
  if (poli_given(place, "type") && shape->type >= 0)
    check_keys(reader, place, &shape_keys[shape->type]);
  if (axis.value && poli_given(place, "rotation"))
    poli_report(reader, &axis, "", "must not stand beside \"rotation\"");
  else if (axis.value && sound)
    poli_rotation_to_axis(shape->axis, shape->rotation);
  else if (!poli_given(place, "rotation"))
    shape->rotation[0] = 1.0;
}

const poli_kind poli_shape_kind = {
    .rule = "must be an object that describes a shape",
    .fields = shape_fields,
    .size = sizeof(poli_model_shape),
    .check = check_shape,
};

/* --- to the model ----------------------------------------------------------------------------- */

/* Copies one list to *next and on. */
static pol_status copy_shapes(const poli_list *list, int body, pol_shape **next)
{
  const poli_model_shape *from = list->items;
  for (size_t i = 0; i < list->count; i++, from++) {
    pol_shape *shape = (*next)++;
    shape->type = (pol_shape_type)from->type;
    shape->body = body;
    shape->radius = from->radius;
    shape->length = from->length;
    shape->scale = from->scale;
    shape->color = from->color;
    memcpy(shape->size, from->size, sizeof shape->size);
    memcpy(shape->position, from->position, sizeof shape->position);
    memcpy(shape->rotation, from->rotation, sizeof shape->rotation);
    if (from->file && !(shape->file = poli_format("%s", from->file))) return POL_NO_MEMORY;
  }
  return POL_OK;
}

pol_status poli_build_shapes(const poli_model_data *data, pol_model *model)
{
  const poli_model_body *bodies = data->bodies.items;
  size_t count = data->shapes.count;
  for (size_t i = 0; i < data->bodies.count; i++) count += bodies[i].shapes.count;
  if (count == 0) return POL_OK;
  model->shapes = calloc(count, sizeof *model->shapes);
  if (!model->shapes) return POL_NO_MEMORY;
  model->num_shapes = (int)count;

  pol_shape *next = model->shapes;
  pol_status status = copy_shapes(&data->shapes, POL_GROUND, &next);
  for (size_t i = 0; status == POL_OK && i < data->bodies.count; i++)
    status = copy_shapes(&bodies[i].shapes, (int)i, &next);
  return status;
}

void poli_free_shapes(pol_model *model)
{
  for (int i = 0; i < model->num_shapes; i++) free(model->shapes[i].file);
  free(model->shapes);
}
