/* Drives and functions of time in a model file: their tables, the rules between their keys, and
 * their way to the mechanism. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expression/expression.h"
#include "io/model/parts.h"
#include "io/model/rules.h"
#include "mechanism/function.h"

static const char *const not_drives_or_others[] = {"drives", "forces", "joints", "bodies", NULL};

/* --- functions -------------------------------------------------------------------------------- */

static const char *function_choice(int number)
{
  return pol_function_type_name((pol_function_type)number);
}

static const poli_choices function_types = {function_choice};

/* const json_t *: a list of at least *(const int *)detail numbers, borrowed */
static void read_list_of_numbers(poli_reader *reader, const poli_place *place,
                                 const poli_field *field, void *target)
{
  const int *at_least = field->detail;
  if (!json_is_array(place->value) || json_array_size(place->value) < (size_t)*at_least) {
    poli_report(reader, place, "", "%s", field->rule);
    return;
  }
  *(const json_t **)target = place->value;
  for (size_t i = 0; i < json_array_size(place->value); i++) {
    const poli_place item = poli_place_item(place, i);
    if (!json_is_number(item.value)) poli_report(reader, &item, "", "%s", poli_number_rule);
  }
}

/* The known name that is nearest, for poli_expression_names. */
static const char *near_name(const char *wrong, const char *const *functions, void *user)
{
  static const char *const values[] = {"t", "pi", NULL};
  (void)user;
  pol_near near = pol_near_start(wrong);
  for (const char *const *name = functions ? functions : values; *name; name++)
    pol_near_try(&near, *name);
  return near.best;
}

/* const char *, an expression of t */
static void read_expression(poli_reader *reader, const poli_place *place, const poli_field *field,
                            void *target)
{
  const poli_expression_names names = {poli_function_input, near_name, NULL};
  const char *text = json_string_value(place->value);
  pol_expression *program;
  poli_expression_error error;
  if (!text) {
    poli_report(reader, place, "", "%s", field->rule);
    return;
  }
  *(const char **)target = text;
  const pol_status status = poli_expression_compile(&program, text, &names, &error);
  poli_expression_free(&program);
  if (status == POL_NO_MEMORY)
    reader->status = POL_NO_MEMORY;
  else if (status)
    poli_report(reader, place, error.suggestion, "must be an expression of t: column %d: %s",
                error.column, error.message);
}

static const int one = 1, two = 2;

#define PLAIN(member) offsetof(poli_model_function, plain.member)

static const poli_field function_fields[] = {
    {"type", poli_read_choice, offsetof(poli_model_function, type), POLI_OPTIONAL,
     "must be a type of function, such as \"harmonic\"", &function_types},
    {"value", poli_read_number, offsetof(poli_model_function, value), POLI_OPTIONAL,
     poli_number_rule, NULL},
    {"offset", poli_read_number, PLAIN(offset), POLI_OPTIONAL, poli_number_rule, NULL},
    {"amplitude", poli_read_number, PLAIN(amplitude), POLI_OPTIONAL, poli_number_rule, NULL},
    {"frequency", poli_read_number, PLAIN(frequency), POLI_OPTIONAL, poli_number_rule, NULL},
    {"phase", poli_read_number, PLAIN(phase), POLI_OPTIONAL, poli_number_rule, NULL},
    {"coefficients", read_list_of_numbers, offsetof(poli_model_function, coefficients),
     POLI_OPTIONAL, "must be a list of at least 1 number", &one},
    {"from", poli_read_number, PLAIN(from), POLI_OPTIONAL, poli_number_rule, NULL},
    {"to", poli_read_number, PLAIN(to), POLI_OPTIONAL, poli_number_rule, NULL},
    {"t0", poli_read_number, PLAIN(t0), POLI_OPTIONAL, poli_number_rule, NULL},
    {"t1", poli_read_number, PLAIN(t1), POLI_OPTIONAL, poli_number_rule, NULL},
    {"times", read_list_of_numbers, offsetof(poli_model_function, times), POLI_OPTIONAL,
     "must be a list of at least 2 numbers", &two},
    {"values", read_list_of_numbers, offsetof(poli_model_function, values), POLI_OPTIONAL,
     "must be a list of at least 2 numbers", &two},
    {"slopes", poli_read_number_pair, PLAIN(slopes), POLI_OPTIONAL, "must be a list of 2 numbers",
     NULL},
    {"expression", read_expression, PLAIN(expression), POLI_OPTIONAL,
     "must be an expression of t, such as \"0.1*sin(2*pi*t)\"", NULL},
    {.key = NULL},
};

#undef PLAIN

/* The keys of each type beside "type": those it needs, those it may have; NULL at the ends. */
static const struct function_keys {
  const char *required[4];
  const char *optional[4];
} function_keys[] = {
    [POL_CONSTANT] = {{"value"}, {NULL}},
    [POL_HARMONIC] = {{"amplitude", "frequency"}, {"offset", "phase"}},
    [POL_POLYNOMIAL] = {{"coefficients"}, {NULL}},
    [POL_STEP] = {{"to", "t1"}, {"from", "t0"}},
    [POL_SPEED] = {{"to", "t1"}, {"from", "t0", "offset"}},
    [POL_TABLE] = {{"times", "values"}, {"slopes"}},
    [POL_EXPRESSION] = {{"expression"}, {NULL}},
};

/* Every key belongs to the type, and none that it needs is missing. */
static void check_function_keys(poli_reader *reader, const poli_place *place,
                                pol_function_type type)
{
  const struct function_keys *keys = &function_keys[type];
  for (const poli_field *field = function_fields + 1; field->key; field++) {
    const poli_place at = poli_place_key(place, field->key);
    if (poli_is_listed(field->key, keys->required)) {
      if (!at.value) poli_report_missing(reader, place, function_fields, field->key, field->rule);
    } else if (at.value && !poli_is_listed(field->key, keys->optional)) {
      poli_report(reader, &at, "", "must not be given: %s %s function has no \"%s\"",
                  type == POL_EXPRESSION ? "an" : "a", pol_function_type_name(type), field->key);
    }
  }
}

/* Times that ascend, and a value for each. */
static void check_table(poli_reader *reader, const poli_place *place, const poli_model_function *f)
{
  const poli_place times = poli_place_key(place, "times"), values = poli_place_key(place, "values");
  if (json_array_size(f->times) != json_array_size(f->values)) {
    poli_report(reader, &values, "", "must have as many numbers as \"times\"");
    return;
  }
  for (size_t i = 1; i < json_array_size(f->times); i++) {
    const poli_place item = poli_place_item(&times, i);
    if (json_number_value(item.value) > json_number_value(json_array_get(f->times, i - 1)))
      continue;
    poli_report(reader, &item, "", "must be above the time before");
    return;
  }
}

static void check_function(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  poli_model_function *f = object;
  const int before = reader->errors->count;
  if (!poli_given(place, "type")) {
    if (!poli_given(place, "expression")) {
      poli_report_missing(reader, place, function_fields, "type", function_fields[0].rule);
      return;
    }
    f->type = POL_EXPRESSION;
  }
  if (f->type < 0) return;
  check_function_keys(reader, place, (pol_function_type)f->type);
  if (!sound || reader->errors->count != before) return;
  f->plain.type = (pol_function_type)f->type;
  if (f->plain.type == POL_CONSTANT) f->plain.offset = f->value;
  f->plain.clamped = poli_given(place, "slopes");
  const int is_step = f->plain.type == POL_STEP || f->plain.type == POL_SPEED;
  const poli_place end = poli_place_key(place, "t1");
  if (is_step && !(f->plain.t1 > f->plain.t0))
    poli_report(reader, &end, "", "must be above t0, which is %.10g", f->plain.t0);
  if (f->plain.type == POL_TABLE) check_table(reader, place, f);
}

const poli_kind poli_function_kind = {
    .rule = "must be an object that describes a function of time",
    .fields = function_fields,
    .size = sizeof(poli_model_function),
    .check = check_function,
};

/* --- drives ----------------------------------------------------------------------------------- */

static const char *coordinate_choice(int number)
{
  return pol_coordinate_name((pol_coordinate)number);
}

static const poli_choices coordinates = {coordinate_choice};

static const poli_field drive_fields[] = {
    {"name", poli_read_name, offsetof(poli_model_drive, name), POLI_REQUIRED, poli_name_rule,
     not_drives_or_others},
    {"joint", poli_read_reference, offsetof(poli_model_drive, joint), POLI_OPTIONAL,
     "must be the name of a joint", "joints"},
    {"marker", poli_read_reference, offsetof(poli_model_drive, marker), POLI_OPTIONAL,
     "must be the name of a marker", "markers"},
    {"reference", poli_read_reference, offsetof(poli_model_drive, reference), POLI_OPTIONAL,
     "must be the name of a marker", "markers"},
    {"coordinate", poli_read_choice, offsetof(poli_model_drive, coordinate), POLI_REQUIRED,
     "must be a coordinate, such as \"rotation\"", &coordinates},
    {"function", poli_read_object, offsetof(poli_model_drive, function), POLI_REQUIRED,
     "must be an object that describes a function of time", &poli_function_kind},
    {.key = NULL},
};

/* The joint must have the coordinate. */
static void check_free(poli_reader *reader, const poli_place *place, const poli_model_drive *drive)
{
  const poli_place at = poli_place_key(place, "coordinate"), of = poli_place_key(place, "joint");
  pol_joint joint;
  char rule[POLI_COORDINATES_SIZE];
  if (!poli_find_joint(place->parent->parent, drive->joint, &joint) ||
      pol_joint_has_coordinate(&joint, (pol_coordinate)drive->coordinate))
    return;
  if (pol_joint_num_coordinates(&joint) > 0) {
    poli_write_coordinates(&joint, rule, sizeof rule);
    poli_report(reader, &at, "", "%s", rule);
  } else {
    poli_report(reader, &of, "",
                "must be a joint with an angle or a displacement to drive: %s %s one has none",
                joint.type == POL_GENERIC ? "this" : "a", pol_joint_type_name(joint.type));
  }
}

/* The name of the body of a marker of this key, as the file has it; the ground if it is missing. */
static const char *body_of(const poli_place *place, const char *key, int marker)
{
  return poli_given(place, key) ? poli_body_of_marker(place, marker) : poli_ground_name;
}

/* A marker's coordinates are translations, seen from another body. */
static void check_marker(poli_reader *reader, const poli_place *place,
                         const poli_model_drive *drive)
{
  const poli_place of = poli_place_key(place, "marker"), at = poli_place_key(place, "coordinate");
  const pol_coordinate coordinate = (pol_coordinate)drive->coordinate;
  if (poli_given(place, "coordinate") && drive->coordinate >= 0 &&
      (coordinate < POL_DRIVE_X || coordinate > POL_DRIVE_Z))
    poli_report(reader, &at, "", "must be \"x\", \"y\" or \"z\": those of a marker");
  if (drive->marker < 0 || (poli_given(place, "reference") && drive->reference < 0)) return;
  const char *body = body_of(place, "marker", drive->marker);
  const char *other = body_of(place, "reference", drive->reference);
  if (!body || !other || strcmp(body, other) != 0) return;
  if (poli_given(place, "reference"))
    poli_report(reader, &of, "", "must not be on the same body as \"reference\"");
  else
    poli_report(reader, &of, "", "must be on a body: the ground does not move");
}

/* Whether two objects have the same text, or both none, at a key. */
static int same_text(const json_t *a, const json_t *b, const char *key)
{
  const char *first = json_string_value(json_object_get(a, key));
  const char *second = json_string_value(json_object_get(b, key));
  return first && second ? strcmp(first, second) == 0 : !first && !second;
}

/* No drive before may have the same coordinate. */
static void check_only(poli_reader *reader, const poli_place *place)
{
  static const char *const keys[] = {"joint", "marker", "reference", "coordinate"};
  for (size_t i = 0; i < place->index; i++) {
    const json_t *other = json_array_get(place->parent->value, i);
    int same = 0;
    for (int k = 0; k < 4; k++) same += same_text(place->value, other, keys[k]);
    if (same < 4) continue;
    const poli_place at = poli_place_key(place, "coordinate");
    poli_report(reader, &at, "", "must not be driven twice: drives[%zu] does so already", i);
    return;
  }
}

static void check_drive(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  (void)sound;
  poli_model_drive *drive = object;
  const poli_place joint = poli_place_key(place, "joint");
  const poli_place reference = poli_place_key(place, "reference");
  drive->given_marker = poli_given(place, "marker");
  drive->given_reference = reference.value != NULL;
  const int known = poli_given(place, "coordinate") && drive->coordinate >= 0;
  if (drive->given_marker) {
    if (joint.value) poli_report(reader, &joint, "", "must not stand beside \"marker\"");
    check_marker(reader, place, drive);
    if (known && drive->marker >= 0) check_only(reader, place);
    return;
  }
  if (reference.value) poli_report(reader, &reference, "", "must not be given without \"marker\"");
  if (!joint.value) {
    poli_report_missing(reader, place, drive_fields, "joint",
                        "must be the name of a joint, or \"marker\" instead");
  } else if (known && drive->joint >= 0) {
    check_free(reader, place, drive);
    check_only(reader, place);
  }
}

const poli_kind poli_drive_kind = {
    .rule = "must be an object that describes a drive",
    .fields = drive_fields,
    .size = sizeof(poli_model_drive),
    .check = check_drive,
};

/* --- to the mechanism ------------------------------------------------------------------------- */

pol_status poli_make_function(const poli_model_function *from, pol_function *function,
                              double **numbers)
{
  *function = from->plain;
  const json_t *values = function->type == POL_TABLE ? from->values : from->coefficients;
  const size_t count = json_array_size(values);
  *numbers = malloc((2 * count + 1) * sizeof **numbers);
  if (!*numbers) return POL_NO_MEMORY;
  for (size_t i = 0; i < count; i++) {
    (*numbers)[i] = json_number_value(json_array_get(values, i));
    (*numbers)[count + i] = json_number_value(json_array_get(from->times, i));
  }
  function->count = (int)count;
  function->values = *numbers;
  function->times = *numbers + count;
  return POL_OK;
}

/* The markers of a drive without joint; the reference by default is the global frame. */
static pol_status set_markers(pol_mechanism *mechanism, const poli_model_drive *from,
                              pol_drive *drive)
{
  static const double origin[3] = {0.0, 0.0, 0.0};
  drive->joint = POL_NO_JOINT;
  drive->marker[0] = from->reference;
  drive->marker[1] = from->marker;
  if (from->given_reference) return POL_OK;
  return pol_mechanism_add_marker_at(mechanism, "", POL_GROUND, origin, NULL, &drive->marker[0]);
}

pol_status poli_add_model_drive(pol_mechanism *mechanism, const poli_model_drive *from)
{
  pol_drive drive = {
      .name = from->name, .joint = from->joint, .coordinate = (pol_coordinate)from->coordinate};
  double *numbers;
  pol_status status = from->given_marker ? set_markers(mechanism, from, &drive) : POL_OK;
  if (status) return status;
  status = poli_make_function(&from->function, &drive.function, &numbers);
  if (status) return status;
  status = pol_mechanism_add_drive(mechanism, &drive, NULL);
  free(numbers);
  return status;
}
