/* Values of several forms: rotations, inertias, what is kept or locked, stiffnesses, and settings
 * that are numbers or words. */
#include "io/model/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <polhode/lie.h>

#include "lie/small.h"
#include "mechanism/builder.h"

/* --- rotations -------------------------------------------------------------------------------- */

/* Rows of length 1 that are perpendicular and right-handed. */
static int is_rotation_matrix(const double R[9])
{
  static const double tolerance = 1e-6;
  double product[3];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      if (!(fabs(poli_v3_dot(R + 3 * i, R + 3 * j) - (i == j)) <= tolerance)) return 0;
  poli_v3_cross(R, R + 3, product);
  return poli_v3_dot(product, R + 6) > 0.0;
}

/* The rotation in the one way that is given. */
void poli_check_rotation(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  const poli_place quaternion = poli_place_key(place, "quaternion");
  const poli_place matrix = poli_place_key(place, "matrix");
  const int axis = poli_given(place, "axis"), vector = poli_given(place, "rotation_vector");
  const int ways = (axis || poli_given(place, "angle")) + (quaternion.value != NULL) +
                   (matrix.value != NULL) + vector;
  poli_rotation_keys *keys = object;
  double *q = keys->result;
  if (ways > 1 || (ways == 0 && sound)) {
    poli_report(reader, place, "",
                "must have exactly one of: \"axis\" with \"angle\", \"quaternion\", \"matrix\", "
                "\"rotation_vector\"");
  } else if (sound && axis) {
    poli_normalize(keys->axis);
    q[0] = cos(0.5 * keys->angle);
    poli_v3_scale(sin(0.5 * keys->angle), keys->axis, q + 1);
  } else if (sound && vector) {
    pol_so3_exp(keys->rotation_vector, q);
  } else if (sound && quaternion.value) {
    memcpy(q, keys->quaternion, sizeof keys->quaternion);
    if (poli_is_unit_quaternion(q))
      pol_quat_normalize(q);
    else
      poli_report(reader, &quaternion, "", "must have length 1");
  } else if (sound && is_rotation_matrix(keys->matrix)) {
    pol_quat_from_matrix(keys->matrix, q);
    pol_quat_normalize(q);
  } else if (sound) {
    poli_report(reader, &matrix, "", "must be a rotation: orthogonal with determinant 1");
  }
}

static void read_rotation(poli_reader *reader, const poli_place *place, const poli_field *field,
                          void *target)
{
  poli_rotation_keys keys;
  const int before = reader->errors->count;
  (void)field;
  memset(&keys, 0, sizeof keys);
  poli_read_kind(reader, place, &poli_rotation_kind, &keys);
  if (reader->errors->count == before) memcpy(target, keys.result, sizeof keys.result);
}

const poli_value poli_rotation =
    POLI_VALUE(read_rotation, 4 * sizeof(double), POLI_NO_DETAIL, "", "[rotation](#rotations)",
               NULL, .kind = &poli_rotation_kind);

/* --- kept initial values ---------------------------------------------------------------------- */

/* unsigned, the lowest three bits */
static void read_axes(poli_reader *reader, const poli_place *place, const poli_field *field,
                      void *target)
{
  unsigned *bits = target;
  *bits = json_is_true(place->value) ? 7u : 0u;
  if (json_is_boolean(place->value)) return;
  if (!json_is_array(place->value)) poli_report_wrong(reader, place, field);
  for (size_t i = 0; i < json_array_size(place->value); i++) {
    const poli_place item = poli_place_item(place, i);
    const char *name = json_string_value(item.value);
    if (!name || strlen(name) != 1 || name[0] < 'x' || name[0] > 'z') {
      poli_report(reader, &item, "", "must be \"x\", \"y\" or \"z\"");
      continue;
    }
    const unsigned bit = 1u << (name[0] - 'x');
    if (*bits & bit) poli_report(reader, &item, "", "must not be kept twice");
    *bits |= bit;
  }
}

static void read_keep(poli_reader *reader, const poli_place *place, const poli_field *field,
                      void *target)
{
  poli_keep_keys keys = {0};
  (void)field;
  poli_read_kind(reader, place, &poli_keep_kind, &keys);
  *(unsigned *)target = keys.position * POL_KEEP_POSITION + keys.rotation * POL_KEEP_ROTATION +
                        keys.velocity * POL_KEEP_VELOCITY +
                        keys.angular_velocity * POL_KEEP_ANGULAR_VELOCITY;
}

const poli_value poli_axes = POLI_VALUE(
    read_axes, sizeof(unsigned), POLI_NO_DETAIL,
    "must be true, false or a list of \"x\", \"y\", \"z\"", "`true`, `false` or list of strings",
    "{'anyOf': [{'type': 'boolean'}, {'type': 'array', 'uniqueItems': "
    "true, 'items': {'enum': ['x', 'y', 'z']}}]}");
const poli_value poli_keep = POLI_VALUE(read_keep, sizeof(unsigned), POLI_NO_DETAIL, "",
                                        "object, see below", NULL, .kind = &poli_keep_kind);

/* --- inertia ---------------------------------------------------------------------------------- */

static void read_inertia(poli_reader *reader, const poli_place *place, const poli_field *field,
                         void *target)
{
  const char *word = json_string_value(place->value);
  const poli_field moment = {.value = &poli_number,
                             .rule = poli_number_words(POLI_POSITIVE_NUMBER)};
  static const poli_field matrix = {.value = &poli_matrix};
  double *J = ((poli_model_body *)target)->body.inertia;
  if (word && strcmp(word, "auto") == 0) {
    ((poli_model_body *)target)->auto_inertia = 1;
  } else if (json_array_size(place->value) != 3) {
    poli_report(reader, place, "", "%s, in kg m^2", poli_rule(field));
  } else if (json_is_array(json_array_get(place->value, 0))) {
    matrix.value->read(reader, place, &matrix, J);
  } else {
    for (size_t i = 0; i < 3; i++) {
      const poli_place item = poli_place_item(place, i);
      moment.value->read(reader, &item, &moment, &J[4 * i]);
    }
  }
}

const poli_value poli_inertia = POLI_VALUE(
    read_inertia, sizeof(poli_model_body), POLI_NO_DETAIL,
    "must be \"auto\", 3 principal moments or a symmetric 3x3 matrix",
    "`\"auto\"`, 3 numbers, or 3 lists of 3",
    "{'anyOf': [{'const': 'auto'}, {'type': 'array', 'minItems': 3, 'maxItems': 3, 'items': "
    "{'anyOf': [{'type': 'number', "
    "'exclusiveMinimum': 0}, {'type': 'array', 'minItems': 3, 'maxItems': 3, 'items': {'type': "
    "'number'}}]}}]}",
    .texts = POLI_NUMBERS, .word = "auto");

/* --- stiffness and damping -------------------------------------------------------------------- */

static void read_rates(poli_reader *reader, const poli_place *place, const poli_field *field,
                       void *target)
{
  const char *rule = poli_number_words(POLI_NOT_NEGATIVE_NUMBER);
  const poli_field one = {.value = &poli_number, .rule = rule};
  const poli_field three = {.value = &poli_vector, .rule = poli_rule(field)};
  double *rates = target;
  if (json_is_number(place->value)) {
    one.value->read(reader, place, &one, rates);
    rates[1] = rates[2] = rates[0];
  } else {
    three.value->read(reader, place, &three, rates);
  }
}

const poli_value poli_rates = POLI_VALUE(
    read_rates, 3 * sizeof(double), POLI_NO_DETAIL,
    "must be a number or a list of 3 numbers, none negative", "number or 3 numbers",
    "{'anyOf': [{'type': 'number', 'minimum': 0}, {'type': 'array', 'minItems': 3, 'maxItems': 3, "
    "'items': {'type': 'number', 'minimum': 0}}]}",
    .texts = POLI_NUMBERS);

/* --- what a generic joint locks --------------------------------------------------------------- */

static void read_locks(poli_reader *reader, const poli_place *place, const poli_field *field,
                       void *target)
{
  static const poli_choices locks = {pol_lock_name};
  static const poli_field lock = {.value = &poli_choice, .detail = &locks};
  unsigned *locked = target;
  if (json_array_size(place->value) == 0) { /* 0 for what is no list */
    poli_report_wrong(reader, place, field);
    return;
  }
  for (size_t i = 0; i < json_array_size(place->value); i++) {
    const poli_place item = poli_place_item(place, i);
    int number = -1;
    lock.value->read(reader, &item, &lock, &number);
    if (number < 0) continue;
    if (*locked & (1u << number)) poli_report(reader, &item, "", "must not be locked twice");
    *locked |= 1u << number;
  }
}

const poli_value poli_locks = POLI_VALUE(
    read_locks, sizeof(unsigned), POLI_NO_DETAIL,
    "must be a list of one or more of: x, y, z, rotation-x, rotation-y, rotation-z",
    "list of strings",
    "{'type': 'array', 'minItems': 1, 'uniqueItems': true, 'items': {'enum': ['x', 'y', 'z', "
    "'rotation-x', 'rotation-y', 'rotation-z']}}");

/* --- shapes ----------------------------------------------------------------------------------- */

static void read_mesh(poli_reader *reader, const poli_place *place, const poli_field *field,
                      void *target)
{
  const char *text = json_string_value(place->value);
  const size_t length = text ? strlen(text) : 0;
  if (length > 4 &&
      (strcasecmp(text + length - 4, ".stl") == 0 || strcasecmp(text + length - 4, ".obj") == 0 ||
       strcasecmp(text + length - 4, ".dae") == 0))
    *(const char **)target = text;
  else
    poli_report_wrong(reader, place, field);
}

static void read_color(poli_reader *reader, const poli_place *place, const poli_field *field,
                       void *target)
{
  const char *text = json_string_value(place->value);
  if (text && text[0] == '#' && strlen(text) == 7 &&
      strspn(text + 1, "0123456789abcdefABCDEF") == 6)
    *(int *)target = (int)strtol(text + 1, NULL, 16);
  else
    poli_report_wrong(reader, place, field);
}

static void read_file(poli_reader *reader, const poli_place *place, const poli_field *field,
                      void *target)
{
  const char *name = json_string_value(place->value);
  if (name && *name)
    *(const char **)target = name;
  else
    poli_report_wrong(reader, place, field);
}

const poli_value poli_mesh_file =
    POLI_VALUE(read_mesh, sizeof(char *), POLI_NO_DETAIL,
               "must be the name of a file that ends in .stl, .obj or .dae", "string",
               "{'type': 'string', 'pattern': '.\\\\.([sS][tT][lL]|[oO][bB][jJ]|[dD][aA][eE])$'}");
const poli_value poli_data_file =
    POLI_VALUE(read_file, sizeof(char *), POLI_NO_DETAIL, "must be the name of a file", "string",
               "{'type': 'string', 'minLength': 1}");
const poli_value poli_color =
    POLI_VALUE(read_color, sizeof(int), POLI_NO_DETAIL, "must be a colour such as \"#0072b2\"",
               "string", "{'type': 'string', 'pattern': '^#[0-9a-fA-F]{6}$'}");

/* --- settings that are numbers or words ------------------------------------------------------- */

/* Whether the value is this word; else reports it, if it is no number either. */
static int is_word(poli_reader *reader, const poli_place *place, const poli_field *field,
                   const char *word, int number_fits)
{
  const char *text = json_string_value(place->value);
  pol_near near = pol_near_start(text ? text : "");
  pol_near_try(&near, word);
  if (text && strcmp(text, word) == 0) return 1;
  if (!number_fits) poli_report(reader, place, near.best, "%s", poli_rule(field));
  return 0;
}

static void read_index(poli_reader *reader, const poli_place *place, const poli_field *field,
                       void *target)
{
  pol_index *index = target;
  const double number = json_number_value(place->value);
  const int fits = number == 3.0 || number == 2.0;
  if (is_word(reader, place, field, "stabilized-2", fits))
    *index = POL_INDEX_2_STABILIZED;
  else if (fits)
    *index = number == 3.0 ? POL_INDEX_3 : POL_INDEX_2;
}

static void read_sigma(poli_reader *reader, const poli_place *place, const poli_field *field,
                       void *target)
{
  const int optimal = is_word(reader, place, field, "optimal", json_is_number(place->value));
  *(double *)target = optimal ? (double)NAN : json_number_value(place->value);
}

static void read_order(poli_reader *reader, const poli_place *place, const poli_field *field,
                       void *target)
{
  const double number = json_number_value(place->value);
  const int fits = number == 2.0 || number == 4.0 || number == 6.0 || number == 8.0;
  *(int *)target = is_word(reader, place, field, "auto", fits) ? 0 : (int)number;
}

static void read_atol(poli_reader *reader, const poli_place *place, const poli_field *field,
                      void *target)
{
  poli_model_simulation *simulation = target;
  if (!json_is_number(place->value)) {
    poli_read_kind(reader, place, &poli_tolerances_kind, simulation);
    return;
  }
  simulation->atol[0] = simulation->atol[1] = json_number_value(place->value);
  if (!(simulation->atol[0] >= 0.0)) poli_report_wrong(reader, place, field);
}

const poli_value poli_index =
    POLI_VALUE(read_index, sizeof(pol_index), POLI_NO_DETAIL, "must be 3, 2 or \"stabilized-2\"",
               "number or string", "{'enum': [3, 2, 'stabilized-2']}", .texts = POLI_NUMBERS,
               .word = "stabilized-2");
const poli_value poli_sigma =
    POLI_VALUE(read_sigma, sizeof(double), POLI_NO_DETAIL, "must be a number or \"optimal\"",
               "number or string", "{'anyOf': [{'type': 'number'}, {'const': 'optimal'}]}",
               .texts = POLI_NUMBERS, .word = "optimal");
const poli_value poli_order = POLI_VALUE(
    read_order, sizeof(int), POLI_NO_DETAIL, "must be 2, 4, 6, 8 or \"auto\"", "number or string",
    "{'enum': [2, 4, 6, 8, 'auto']}", .texts = POLI_NUMBERS, .word = "auto");
const poli_value poli_atol = POLI_VALUE(
    read_atol, sizeof(poli_model_simulation), POLI_NO_DETAIL, "must be a non-negative number",
    "number, or object with `translation` and `rotation`",
    "{'anyOf': [{'type': 'number', 'minimum': 0}, {'$ref': '#/definitions/tolerances'}]}",
    .kind = &poli_tolerances_kind, .texts = POLI_NUMBERS);

/* --- lists of numbers ------------------------------------------------------------------------- */

/* value->count says how many at least; times must ascend. */
static void read_numbers(poli_reader *reader, const poli_place *place, const poli_field *field,
                         void *target)
{
  double last = 0.0;
  if (!json_is_array(place->value) || json_array_size(place->value) < field->value->count) {
    poli_report_wrong(reader, place, field);
    return;
  }
  *(const json_t **)target = place->value;
  for (size_t i = 0; i < json_array_size(place->value); i++) {
    const poli_place item = poli_place_item(place, i);
    const double number = json_number_value(item.value);
    if (!json_is_number(item.value))
      poli_report(reader, &item, "", "must be a number");
    else if (field->value == &poli_times && !(number > last))
      poli_report(reader, &item, "", "must be above %s", i ? "the previous time" : "0");
    last = number;
  }
}

/* The diagonal of a matrix of 6 rows, or all of it. */
static void read_section_matrix(poli_reader *reader, const poli_place *place,
                                const poli_field *field, void *target)
{
  const poli_field number = {.value = &poli_number};
  double *matrix = target;
  int whole = json_is_array(json_array_get(place->value, 0));
  int sound = json_array_size(place->value) == 6;
  for (size_t i = 0; i < 6 && sound && whole; i++)
    sound = json_array_size(json_array_get(place->value, i)) == 6;
  if (!sound) {
    poli_report_wrong(reader, place, field);
    return;
  }
  for (size_t i = 0; i < 6; i++) {
    const poli_place row = poli_place_item(place, i);
    if (!whole) number.value->read(reader, &row, &number, &matrix[7 * i]);
    for (size_t j = 0; j < 6 && whole; j++) {
      const poli_place at = poli_place_item(&row, j);
      number.value->read(reader, &at, &number, &matrix[6 * i + j]);
    }
  }
}

const poli_value poli_section_matrix = POLI_VALUE(
    read_section_matrix, 36 * sizeof(double), POLI_NO_DETAIL,
    "must be a list of 6 numbers, or of 6 lists of 6 numbers", "6 numbers, or 6 lists of 6",
    "{'type': 'array', 'minItems': 6, 'maxItems': 6, 'items': {'anyOf': [{'type': 'number'}, "
    "{'type': 'array', 'minItems': 6, 'maxItems': 6, 'items': {'type': 'number'}}]}}",
    .texts = POLI_NUMBERS);

/* A list of points. */
static void read_line(poli_reader *reader, const poli_place *place, const poli_field *field,
                      void *target)
{
  const poli_field point = {.value = &poli_vector};
  if (!json_is_array(place->value) || json_array_size(place->value) < 2) {
    poli_report_wrong(reader, place, field);
    return;
  }
  *(const json_t **)target = place->value;
  for (size_t i = 0; i < json_array_size(place->value); i++) {
    const poli_place item = poli_place_item(place, i);
    double unused[3];
    point.value->read(reader, &item, &point, unused);
  }
}

const poli_value poli_line = POLI_VALUE(
    read_line, sizeof(json_t *), POLI_NO_DETAIL,
    "must be a list of 2 or more points, each a list of 3 numbers", "list of points",
    "{'type': 'array', 'minItems': 2, 'items': {'type': 'array', 'minItems': 3, 'maxItems': 3, "
    "'items': {'type': 'number'}}}",
    .texts = POLI_NUMBERS);
const poli_value poli_numbers = POLI_VALUE(
    read_numbers, sizeof(json_t *), POLI_NO_DETAIL, "must be a list of at least 1 number",
    "list of numbers", "{'type': 'array', 'minItems': 1, 'items': {'type': 'number'}}", .count = 1,
    .texts = POLI_NUMBERS);
const poli_value poli_two_numbers = POLI_VALUE(
    read_numbers, sizeof(json_t *), POLI_NO_DETAIL, "must be a list of at least 2 numbers",
    "list of at least 2 numbers", "{'type': 'array', 'minItems': 2, 'items': {'type': 'number'}}",
    .count = 2, .texts = POLI_NUMBERS);
const poli_value poli_times = POLI_VALUE(
    read_numbers, sizeof(json_t *), POLI_NO_DETAIL, "must be a list of one or more ascending times",
    "list of numbers",
    "{'type': 'array', 'minItems': 1, 'items': {'type': 'number', 'exclusiveMinimum': 0}}",
    .count = 1, .texts = POLI_NUMBERS);

/* --- what was expanded ------------------------------------------------------------------------ */

static void read_nothing(poli_reader *reader, const poli_place *place, const poli_field *field,
                         void *target)
{
  (void)reader;
  (void)place;
  (void)field;
  (void)target;
}

/* An object; its values were checked before if they are numbers. */
static void read_map(poli_reader *reader, const poli_place *place, const poli_field *field,
                     void *target)
{
  const char *key;
  json_t *value;
  if (!json_is_object(place->value)) {
    poli_report_wrong(reader, place, field);
    return;
  }
  *(const json_t **)target = place->value;
  json_object_foreach(place->value, key, value)
  {
    const poli_place at = {place, key, 0, value};
    if (field->value == &poli_number_map ? !json_is_number(value) : !json_is_string(value))
      poli_report(reader, &at, "",
                  field->value == &poli_number_map     ? "must be a number"
                  : field->value == &poli_variable_map ? "must be the name of a variable"
                                                       : "must be the name of an object outside");
  }
}

const poli_value poli_expanded = POLI_VALUE(read_nothing, 0, POLI_NO_DETAIL, "", "object",
                                            "{'type': 'object'}", .texts = POLI_NO_TEXTS);
const poli_value poli_parameter_value =
    POLI_VALUE(read_nothing, 0, POLI_NO_DETAIL, "", "number or [expression](#expressions)",
               "{'type': ['number', 'string']}", .texts = POLI_NO_TEXTS);
const poli_value poli_parameter_list =
    POLI_VALUE(read_nothing, 0, POLI_KIND, "", "object, see below",
               "{'type': 'object', 'additionalProperties': {'anyOf': [{'type': ['number', "
               "'string']}, {'$ref': "
               "'#/definitions/parameter'}]}}",
               .texts = POLI_NO_TEXTS);
const poli_value poli_includes = POLI_VALUE(
    read_nothing, 0, POLI_KIND, "", "list of [files](#included-files)",
    "{'type': 'array', 'items': {'$ref': '#/definitions/include'}}", .texts = POLI_NO_TEXTS);
const poli_value poli_number_map = POLI_VALUE(
    read_map, sizeof(json_t *), POLI_NO_DETAIL, "must be an object of numbers", "object of numbers",
    "{'type': 'object', 'additionalProperties': {'type': ['number', 'string']}}",
    .texts = POLI_NUMBERS);
const poli_value poli_name_map =
    POLI_VALUE(read_map, sizeof(json_t *), POLI_NO_DETAIL, "must be an object of names",
               "object of names", "{'type': 'object', 'additionalProperties': {'type': 'string'}}");
const poli_value poli_variable_map = POLI_VALUE(
    read_map, sizeof(json_t *), POLI_NO_DETAIL, "must be an object of names of variables",
    "object of names",
    "{'type': 'object', 'minProperties': 1, 'additionalProperties': {'type': 'string'}}");

/* --- functions of time ------------------------------------------------------------------------ */

/* An object, a text that is an expression of time, or a number that is constant. */
static void read_function(poli_reader *reader, const poli_place *place, const poli_field *field,
                          void *target)
{
  poli_model_function *f = target;
  if (json_is_object(place->value)) {
    poli_read_kind(reader, place, field->detail, target);
  } else if (json_is_string(place->value)) {
    f->given = 1;
    f->plain.type = POL_EXPRESSION;
    f->plain.expression = json_string_value(place->value);
  } else if (json_is_number(place->value)) {
    f->given = 1;
    f->plain.type = POL_CONSTANT;
    f->plain.offset = json_number_value(place->value);
  } else {
    poli_report_wrong(reader, place, field);
  }
}

const poli_value poli_function =
    POLI_VALUE(read_function, sizeof(poli_model_function), POLI_KIND,
               "must be an object that describes a function of time, or an expression of t",
               "[function](#functions-of-time) or [expression](#expressions)",
               "{'anyOf': [{'type': ['number', 'string']}, {'$ref': '#/definitions/function'}]}",
               .texts = POLI_EXPRESSIONS);
