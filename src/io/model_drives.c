/* Drives and functions of time in a model file: their tables, the rules between their keys, and
 * their way to the mechanism. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/model_parts.h"
#include "io/model_rules.h"
#include "mechanism/expression.h"
#include "mechanism/function.h"

static const char *const not_drives_or_others[] = {"drives", "forces", "joints", "bodies", NULL};

/* --- functions -------------------------------------------------------------------------------- */

static const char *function_choice(int number)
{
  return pol_function_type_name((pol_function_type)number);
}

static const pol_choices function_types = {function_choice};

/* const json_t *: a list of at least *(const int *)detail numbers, borrowed */
static void read_list_of_numbers(pol_reader *reader, const pol_place *place, const pol_field *field,
                                 void *target)
{
  const int *at_least = field->detail;
  if (!json_is_array(place->value) || json_array_size(place->value) < (size_t)*at_least) {
    pol_report(reader, place, "", "%s", field->rule);
    return;
  }
  *(const json_t **)target = place->value;
  for (size_t i = 0; i < json_array_size(place->value); i++) {
    const pol_place item = pol_place_item(place, i);
    if (!json_is_number(item.value)) pol_report(reader, &item, "", "%s", pol_number_rule);
  }
}

/* The known name that is nearest, for pol_expression_names. */
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
static void read_expression(pol_reader *reader, const pol_place *place, const pol_field *field,
                            void *target)
{
  const pol_expression_names names = {pol_function_input, near_name, NULL};
  const char *text = json_string_value(place->value);
  pol_expression *program;
  pol_expression_error error;
  if (!text) {
    pol_report(reader, place, "", "%s", field->rule);
    return;
  }
  *(const char **)target = text;
  const pol_status status = pol_expression_compile(&program, text, &names, &error);
  pol_expression_free(&program);
  if (status == POL_NO_MEMORY)
    reader->status = POL_NO_MEMORY;
  else if (status)
    pol_report(reader, place, error.suggestion, "must be an expression of t: column %d: %s",
               error.column, error.message);
}

static const int one = 1, two = 2;

#define PLAIN(member) offsetof(pol_model_function, plain.member)

static const pol_field function_fields[] = {
    {"type", pol_read_choice, offsetof(pol_model_function, type), POL_OPTIONAL,
     "must be a type of function, such as \"harmonic\"", &function_types},
    {"value", pol_read_number, offsetof(pol_model_function, value), POL_OPTIONAL, pol_number_rule,
     NULL},
    {"offset", pol_read_number, PLAIN(offset), POL_OPTIONAL, pol_number_rule, NULL},
    {"amplitude", pol_read_number, PLAIN(amplitude), POL_OPTIONAL, pol_number_rule, NULL},
    {"frequency", pol_read_number, PLAIN(frequency), POL_OPTIONAL, pol_number_rule, NULL},
    {"phase", pol_read_number, PLAIN(phase), POL_OPTIONAL, pol_number_rule, NULL},
    {"coefficients", read_list_of_numbers, offsetof(pol_model_function, coefficients), POL_OPTIONAL,
     "must be a list of at least 1 number", &one},
    {"from", pol_read_number, PLAIN(from), POL_OPTIONAL, pol_number_rule, NULL},
    {"to", pol_read_number, PLAIN(to), POL_OPTIONAL, pol_number_rule, NULL},
    {"t0", pol_read_number, PLAIN(t0), POL_OPTIONAL, pol_number_rule, NULL},
    {"t1", pol_read_number, PLAIN(t1), POL_OPTIONAL, pol_number_rule, NULL},
    {"times", read_list_of_numbers, offsetof(pol_model_function, times), POL_OPTIONAL,
     "must be a list of at least 2 numbers", &two},
    {"values", read_list_of_numbers, offsetof(pol_model_function, values), POL_OPTIONAL,
     "must be a list of at least 2 numbers", &two},
    {"slopes", pol_read_number_pair, PLAIN(slopes), POL_OPTIONAL, "must be a list of 2 numbers",
     NULL},
    {"expression", read_expression, PLAIN(expression), POL_OPTIONAL,
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
static void check_function_keys(pol_reader *reader, const pol_place *place, pol_function_type type)
{
  const struct function_keys *keys = &function_keys[type];
  for (const pol_field *field = function_fields + 1; field->key; field++) {
    const pol_place at = pol_place_key(place, field->key);
    if (pol_is_listed(field->key, keys->required)) {
      if (!at.value) pol_report_missing(reader, place, function_fields, field->key, field->rule);
    } else if (at.value && !pol_is_listed(field->key, keys->optional)) {
      pol_report(reader, &at, "", "must not be given: %s %s function has no \"%s\"",
                 type == POL_EXPRESSION ? "an" : "a", pol_function_type_name(type), field->key);
    }
  }
}

/* Times that ascend, and a value for each. */
static void check_table(pol_reader *reader, const pol_place *place, const pol_model_function *f)
{
  const pol_place times = pol_place_key(place, "times"), values = pol_place_key(place, "values");
  if (json_array_size(f->times) != json_array_size(f->values)) {
    pol_report(reader, &values, "", "must have as many numbers as \"times\"");
    return;
  }
  for (size_t i = 1; i < json_array_size(f->times); i++) {
    const pol_place item = pol_place_item(&times, i);
    if (json_number_value(item.value) > json_number_value(json_array_get(f->times, i - 1)))
      continue;
    pol_report(reader, &item, "", "must be above the time before");
    return;
  }
}

static void check_function(pol_reader *reader, const pol_place *place, void *object, int sound)
{
  pol_model_function *f = object;
  const int before = reader->errors->count;
  if (!pol_given(place, "type")) {
    if (!pol_given(place, "expression")) {
      pol_report_missing(reader, place, function_fields, "type", function_fields[0].rule);
      return;
    }
    f->type = POL_EXPRESSION;
  }
  if (f->type < 0) return;
  check_function_keys(reader, place, (pol_function_type)f->type);
  if (!sound || reader->errors->count != before) return;
  f->plain.type = (pol_function_type)f->type;
  if (f->plain.type == POL_CONSTANT) f->plain.offset = f->value;
  f->plain.clamped = pol_given(place, "slopes");
  const int is_step = f->plain.type == POL_STEP || f->plain.type == POL_SPEED;
  const pol_place end = pol_place_key(place, "t1");
  if (is_step && !(f->plain.t1 > f->plain.t0))
    pol_report(reader, &end, "", "must be above t0, which is %.10g", f->plain.t0);
  if (f->plain.type == POL_TABLE) check_table(reader, place, f);
}

const pol_kind pol_function_kind = {
    .rule = "must be an object that describes a function of time",
    .fields = function_fields,
    .size = sizeof(pol_model_function),
    .check = check_function,
};

/* --- drives ----------------------------------------------------------------------------------- */

static const char *coordinate_choice(int number)
{
  return pol_coordinate_name((pol_coordinate)number);
}

static const pol_choices coordinates = {coordinate_choice};

static const pol_field drive_fields[] = {
    {"name", pol_read_name, offsetof(pol_model_drive, name), POL_REQUIRED, pol_name_rule,
     not_drives_or_others},
    {"joint", pol_read_reference, offsetof(pol_model_drive, joint), POL_OPTIONAL,
     "must be the name of a joint", "joints"},
    {"marker", pol_read_reference, offsetof(pol_model_drive, marker), POL_OPTIONAL,
     "must be the name of a marker", "markers"},
    {"reference", pol_read_reference, offsetof(pol_model_drive, reference), POL_OPTIONAL,
     "must be the name of a marker", "markers"},
    {"coordinate", pol_read_choice, offsetof(pol_model_drive, coordinate), POL_REQUIRED,
     "must be a coordinate, such as \"rotation\"", &coordinates},
    {"function", pol_read_object, offsetof(pol_model_drive, function), POL_REQUIRED,
     "must be an object that describes a function of time", &pol_function_kind},
    {.key = NULL},
};

/* The joint must have the coordinate. */
static void check_free(pol_reader *reader, const pol_place *place, const pol_model_drive *drive)
{
  const pol_place at = pol_place_key(place, "coordinate"), of = pol_place_key(place, "joint");
  pol_joint joint;
  char rule[POL_COORDINATES_SIZE];
  if (!pol_find_joint(place->parent->parent, drive->joint, &joint) ||
      pol_joint_has_coordinate(&joint, (pol_coordinate)drive->coordinate))
    return;
  if (pol_joint_num_coordinates(&joint) > 0) {
    pol_write_coordinates(&joint, rule, sizeof rule);
    pol_report(reader, &at, "", "%s", rule);
  } else {
    pol_report(reader, &of, "",
               "must be a joint with an angle or a displacement to drive: %s %s one has none",
               joint.type == POL_GENERIC ? "this" : "a", pol_joint_type_name(joint.type));
  }
}

/* The name of the body of a marker of this key, as the file has it; the ground if it is missing. */
static const char *body_of(const pol_place *place, const char *key, int marker)
{
  return pol_given(place, key) ? pol_body_of_marker(place, marker) : pol_ground_name;
}

/* A marker's coordinates are translations, seen from another body. */
static void check_marker(pol_reader *reader, const pol_place *place, const pol_model_drive *drive)
{
  const pol_place of = pol_place_key(place, "marker"), at = pol_place_key(place, "coordinate");
  const pol_coordinate coordinate = (pol_coordinate)drive->coordinate;
  if (pol_given(place, "coordinate") && drive->coordinate >= 0 &&
      (coordinate < POL_DRIVE_X || coordinate > POL_DRIVE_Z))
    pol_report(reader, &at, "", "must be \"x\", \"y\" or \"z\": those of a marker");
  if (drive->marker < 0 || (pol_given(place, "reference") && drive->reference < 0)) return;
  const char *body = body_of(place, "marker", drive->marker);
  const char *other = body_of(place, "reference", drive->reference);
  if (!body || !other || strcmp(body, other) != 0) return;
  if (pol_given(place, "reference"))
    pol_report(reader, &of, "", "must not be on the same body as \"reference\"");
  else
    pol_report(reader, &of, "", "must be on a body: the ground does not move");
}

/* Whether two objects have the same text, or both none, at a key. */
static int same_text(const json_t *a, const json_t *b, const char *key)
{
  const char *first = json_string_value(json_object_get(a, key));
  const char *second = json_string_value(json_object_get(b, key));
  return first && second ? strcmp(first, second) == 0 : !first && !second;
}

/* No drive before may have the same coordinate. */
static void check_only(pol_reader *reader, const pol_place *place)
{
  static const char *const keys[] = {"joint", "marker", "reference", "coordinate"};
  for (size_t i = 0; i < place->index; i++) {
    const json_t *other = json_array_get(place->parent->value, i);
    int same = 0;
    for (int k = 0; k < 4; k++) same += same_text(place->value, other, keys[k]);
    if (same < 4) continue;
    const pol_place at = pol_place_key(place, "coordinate");
    pol_report(reader, &at, "", "must not be driven twice: drives[%zu] does so already", i);
    return;
  }
}

static void check_drive(pol_reader *reader, const pol_place *place, void *object, int sound)
{
  (void)sound;
  pol_model_drive *drive = object;
  const pol_place joint = pol_place_key(place, "joint");
  const pol_place reference = pol_place_key(place, "reference");
  drive->given_marker = pol_given(place, "marker");
  drive->given_reference = reference.value != NULL;
  const int known = pol_given(place, "coordinate") && drive->coordinate >= 0;
  if (drive->given_marker) {
    if (joint.value) pol_report(reader, &joint, "", "must not stand beside \"marker\"");
    check_marker(reader, place, drive);
    if (known && drive->marker >= 0) check_only(reader, place);
    return;
  }
  if (reference.value) pol_report(reader, &reference, "", "must not be given without \"marker\"");
  if (!joint.value) {
    pol_report_missing(reader, place, drive_fields, "joint",
                       "must be the name of a joint, or \"marker\" instead");
  } else if (known && drive->joint >= 0) {
    check_free(reader, place, drive);
    check_only(reader, place);
  }
}

const pol_kind pol_drive_kind = {
    .rule = "must be an object that describes a drive",
    .fields = drive_fields,
    .size = sizeof(pol_model_drive),
    .check = check_drive,
};

/* --- to the mechanism ------------------------------------------------------------------------- */

pol_status pol_make_function(const pol_model_function *from, pol_function *function,
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
static pol_status set_markers(pol_mechanism *mechanism, const pol_model_drive *from,
                              pol_drive *drive)
{
  static const double origin[3] = {0.0, 0.0, 0.0};
  drive->joint = POL_NO_JOINT;
  drive->marker[0] = from->reference;
  drive->marker[1] = from->marker;
  if (from->given_reference) return POL_OK;
  return pol_mechanism_add_marker_at(mechanism, "", POL_GROUND, origin, NULL, &drive->marker[0]);
}

pol_status pol_add_model_drive(pol_mechanism *mechanism, const pol_model_drive *from)
{
  pol_drive drive = {
      .name = from->name, .joint = from->joint, .coordinate = (pol_coordinate)from->coordinate};
  double *numbers;
  pol_status status = from->given_marker ? set_markers(mechanism, from, &drive) : POL_OK;
  if (status) return status;
  status = pol_make_function(&from->function, &drive.function, &numbers);
  if (status) return status;
  status = pol_mechanism_add_drive(mechanism, &drive, NULL);
  free(numbers);
  return status;
}
