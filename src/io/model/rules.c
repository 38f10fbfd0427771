/* Rules between the keys of an object that the tables of fields.c cannot say, and what follows from
 * the settings of the simulation: the method and its parameters, steps of variable size.  Rules of
 * the elements of a mechanism are not here: build.c passes on what the mechanism reports. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/lie.h>

#include "io/model/parts.h"
#include "lie/small.h"
#include "mechanism/beam.h"
#include "mechanism/builder.h"

/* --- bodies, shapes --------------------------------------------------------------------------- */

void poli_check_body(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  poli_model_body *from = object;
  pol_body *body = &from->body;
  const int global = poli_given(place, "angular_velocity_global");
  (void)reader;
  from->is_sound = sound;
  if (poli_given(place, "velocity")) body->given |= POL_GIVEN_VELOCITY;
  if (global || poli_given(place, "angular_velocity")) body->given |= POL_GIVEN_ANGULAR_VELOCITY;
  if (global && sound) {
    double R[9];
    body->given |= POL_GIVEN_IN_GLOBAL_AXES;
    pol_quat_to_matrix(body->rotation, R);
    poli_m3_apply_transposed(R, from->angular_velocity_global, body->angular_velocity);
  }
}

void poli_check_shape(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  poli_model_shape *from = object;
  (void)reader;
  if (sound && poli_given(place, "axis") && poli_normalize(from->axis))
    poli_turn_z_to(from->axis, from->shape.rotation);
}

/* --- joints ----------------------------------------------------------------------------------- */

void poli_check_limits(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  (void)object;
  if (sound && !poli_given(place, "min") && !poli_given(place, "max"))
    poli_report(reader, place, "", "must have \"min\" or \"max\"");
}

void poli_check_friction(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  (void)object;
  static const char *const keys[] = {"coefficient", "static_coefficient", "level", "static_level",
                                     "viscous"};
  int given = 0;
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) given |= poli_given(place, keys[k]);
  if (sound && !given)
    poli_report(reader, place, "", "must have \"coefficient\", \"level\" or \"viscous\"");
}

/* --- the whole file, beams -------------------------------------------------------------------- */

void poli_check_model(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  const char *const key = "bodies";
  (void)object;
  (void)sound;
  if (!poli_given(place, key) && !poli_given(place, "include") && !poli_given(place, "beams") &&
      !poli_given(place, "flexible_bodies"))
    poli_report_missing(reader, place, poli_model_kind.fields, key,
                        poli_rule(poli_find_field(poli_model_kind.fields, key)));
}

static int points_are_in_line(const json_t *points)
{
  double p[3][3], u[3], v[3], normal[3];
  for (size_t i = 0; i < 9; i++)
    p[i / 3][i % 3] = json_number_value(json_array_get(json_array_get(points, i / 3), i % 3));
  poli_v3_subtract(p[1], p[0], u);
  poli_v3_subtract(p[2], p[0], v);
  poli_v3_cross(u, v, normal);
  return poli_v3_dot(normal, normal) <= 1e-20 * poli_v3_dot(u, u) * poli_v3_dot(v, v);
}

/* Whether z of the section would be along x at the start. */
static int is_along_beam(poli_reader *reader, const poli_model_beam *from)
{
  pol_beam beam;
  void *memory = NULL;
  double R[9] = {0.0}, across[3];
  const pol_status status = poli_beam_layout(from, &beam, &memory);
  if (status) reader->status = status;
  if (!status) pol_quat_to_matrix(beam.rotations, R);
  poli_v3_cross(from->up, ((double[]){R[0], R[3], R[6]}), across);
  free(memory);
  return !status && poli_v3_dot(across, across) < 1e-18 * poli_v3_dot(from->up, from->up);
}

/* Whether a symmetric matrix of 6 rows has an eigenvalue of zero: a pivot of its Cholesky
 * factorisation.  What has negative ones is reported by the library. */
static int is_singular(const double stiffness[36])
{
  double L[6][6] = {{0.0}};
  for (int j = 0; j < 6; j++) {
    double pivot = stiffness[7 * j];
    for (int k = 0; k < j; k++) pivot -= L[j][k] * L[j][k];
    if (fabs(pivot) <= 1e-14 * fabs(stiffness[7 * j])) return 1;
    if (pivot < 0.0) return 0;
    L[j][j] = sqrt(pivot);
    for (int i = j + 1; i < 6; i++) {
      L[i][j] = stiffness[6 * i + j];
      for (int k = 0; k < j; k++) L[i][j] -= L[i][k] * L[j][k];
      L[i][j] /= L[j][j];
    }
  }
  return 0;
}

/* A place along a beam; NAN if it is not given. */
static void check_place(poli_reader *reader, const poli_place *object, const char *key, double at,
                        double length)
{
  const poli_place place = poli_place_key(object, key);
  if (at > length * (1.0 + 1e-12))
    poli_report(reader, &place, "", "must be at most the length of the beam, %.9g m", length);
}

/* Markers and loads are on the beam, and there is an element for each piece between its corners and
 * markers, which is not tiny. */
static void check_along_beam(poli_reader *reader, const poli_place *place,
                             const poli_model_beam *beam)
{
  const poli_place markers = poli_place_key(place, "markers"),
                   loads = poli_place_key(place, "loads"),
                   elements = poli_place_key(place, "elements");
  const size_t most = json_array_size(beam->points) + beam->markers.count;
  const poli_beam_marker *marker = beam->markers.items;
  const poli_beam_load *load = beam->loads.items;
  const int before = reader->errors->count;
  poli_beam_line *line = NULL;
  double *ends = malloc((most + 1) * sizeof *ends);
  const pol_status status = ends ? poli_beam_line_create(&line, beam) : POL_NO_MEMORY;
  if (status) {
    free(ends);
    reader->status = status;
    return;
  }
  const double length = poli_beam_line_length(line);
  for (size_t i = 0; i < beam->markers.count; i++) {
    const poli_place item = poli_place_item(&markers, i);
    check_place(reader, &item, "at", marker[i].at, length);
  }
  for (size_t i = 0; i < beam->loads.count; i++) {
    const poli_place item = poli_place_item(&loads, i), to = poli_place_key(&item, "to");
    check_place(reader, &item, "to", load[i].to, length);
    check_place(reader, &item, "from", load[i].from, length);
    if (load[i].to <= load[i].from) poli_report(reader, &to, "", "must be above \"from\"");
    if (!poli_given(&item, "force") && !poli_given(&item, "moment"))
      poli_report(reader, &item, "", "must have a \"force\" or a \"moment\"");
  }
  if (reader->errors->count == before) {
    const int spans = poli_beam_line_spans(line, ends);
    for (int k = 0; k < spans && beam->markers.count > 0; k++) {
      const double size = ends[k] - (k > 0 ? ends[k - 1] : 0.0);
      if (size < 1e-6 * length)
        poli_report(reader, &markers, "",
                    "must not be %.3g m from each other, a corner or an end: the element would be "
                    "tiny",
                    size);
    }
    if (beam->elements < spans)
      poli_report(reader, &elements, "", "must be at least %d: one for each piece of the line%s",
                  spans, beam->markers.count > 0 ? " between corners and markers" : "");
  }
  poli_beam_line_free(&line);
  free(ends);
}

/* The relaxed elements do not turn and twist further than their strains can describe: rotations are
 * known from their ends only. */
static void check_turning(poli_reader *reader, const poli_place *place, const poli_model_beam *from)
{
  const poli_place elements = poli_place_key(place, "elements"),
                   points = poli_place_key(place, "points"), twist = poli_place_key(place, "twist");
  const double most = poli_deformation_most((pol_beam_strain)from->strain);
  poli_beam_line *line = NULL;
  pol_beam beam;
  void *memory = NULL;
  double s = 0.0, worst = 0.0;
  if (from->type == POLI_LINE && from->twist == 0.0) return;
  pol_status status = poli_beam_line_create(&line, from);
  if (!status) status = poli_beam_layout(from, &beam, &memory);
  for (int k = 0; k < from->elements && !status; k++) {
    const double length = beam.lengths[k], whole = poli_beam_line_length(line);
    const double to = k + 1 == from->elements ? whole : s + length;
    worst = fmax(worst, hypot(poli_beam_line_turning(line, s, to), from->twist * (length / whole)));
    s = to;
  }
  const double needed = ceil(worst / most * from->elements);
  if (status)
    reader->status = status;
  else if (isinf(worst))
    poli_report(reader, &points, "", "must not lead back: the spline would have a cusp");
  else if (worst > most && needed > 1e6)
    poli_report(reader, twist.value ? &twist : &points, "",
                "must turn an element by at most %g rad, not by %.3g rad", most, worst);
  else if (worst > most)
    poli_report(reader, &elements, "",
                "must be more, about %.0f: an element turns by %.3g rad, and only %g rad are "
                "possible",
                needed, worst, most);
  poli_beam_line_free(&line);
  free(memory);
}

void poli_check_beam(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  poli_model_beam *beam = object;
  const poli_place points = poli_place_key(place, "points"),
                   section = poli_place_key(place, "section");
  const size_t count = json_array_size(points.value);
  const int before = reader->errors->count;
  if (poli_given(place, "velocity")) beam->given |= POL_GIVEN_VELOCITY;
  if (poli_given(place, "angular_velocity_global")) beam->given |= POL_GIVEN_ANGULAR_VELOCITY;
  beam->is_sound = 0;
  if (!sound) return;
  if (beam->section.type != POLI_STIFFNESS && !poli_given(place, "material"))
    poli_report_missing(reader, place, poli_beam_kind.fields, "material",
                        "an object with \"young\" and \"density\"");
  if (beam->section.type == POLI_CIRCLE && beam->section.thickness >= beam->section.radius) {
    const poli_place wall = poli_place_key(&section, "thickness");
    poli_report(reader, &wall, "", "must be below the radius; a solid circle has none");
  }
  if (beam->type == POLI_ARC && count != 3)
    poli_report(reader, &points, "", "must be 3 points: an arc leads through them");
  if (beam->type == POLI_ARC && count == 3 && points_are_in_line(points.value))
    poli_report(reader, &points, "", "must not be on one line: an arc leads through them");
  for (size_t i = 1; i < count; i++) {
    const poli_place item = poli_place_item(&points, i);
    double apart = 0.0;
    for (size_t k = 0; k < 3; k++)
      apart += fabs(json_number_value(json_array_get(item.value, k)) -
                    json_number_value(json_array_get(json_array_get(points.value, i - 1), k)));
    if (!(apart > 0.0)) poli_report(reader, &item, "", "must not be the point before it");
  }
  if (beam->section.type == POLI_STIFFNESS && is_singular(beam->section.stiffness)) {
    const poli_place matrix = poli_place_key(&section, "stiffness");
    poli_report(reader, &matrix, "",
                "must not be singular: \"bending\" and \"twisting\" of the beam make a cable");
  }
  if (reader->errors->count == before) check_along_beam(reader, place, beam);
  if (reader->errors->count == before) check_turning(reader, place, beam);
  const poli_place up = poli_place_key(place, "up");
  if (up.value && reader->errors->count == before && is_along_beam(reader, beam))
    poli_report(reader, &up, "", "must not point along the beam");
  beam->is_sound = reader->status == POL_OK && reader->errors->count == before;
}

/* --- forces, functions ------------------------------------------------------------------------ */

/* There are no axes of a marker without one, and expressions are not turned into them; a
 * spring-damper acts along one line, a joint-spring on one coordinate. */
void poli_check_force(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  const poli_model_force *from = object;
  const pol_force_type type = from->force.type;
  const poli_place frame = poli_place_key(place, "frame");
  int count = 0; /* of expressions */
  (void)sound;
  for (int i = 0; i < 3; i++) count += from->force.expressions[i] != NULL;
  if ((type == POL_APPLIED_FORCE || type == POL_APPLIED_TORQUE) && frame.value &&
      (int)from->force.frame == POLI_MODEL_MARKER_AXES) {
    if (!poli_given(place, "marker"))
      poli_report(reader, &frame, "", "must be \"global\" or \"body\" without a \"marker\"");
    else if (count > 0)
      poli_report(reader, &frame, "", "must be \"global\" or \"body\" where there are expressions");
  }
  for (int i = 0; i < 2 && (type == POL_SPRING_DAMPER || type == POL_JOINT_SPRING); i++) {
    const poli_place rate = poli_place_key(place, i == 0 ? "stiffness" : "damping");
    if (json_is_array(rate.value))
      poli_report(reader, &rate, "", "must be one number for a %s", pol_force_type_name(type));
  }
}

/* Each time of a table has a value. */
void poli_check_function(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  poli_model_function *f = object;
  const poli_place values = poli_place_key(place, "values");
  (void)sound;
  f->given = 1;
  if (!poli_given(place, "type") && poli_given(place, "expression")) f->plain.type = POL_EXPRESSION;
  f->plain.clamped = poli_given(place, "slopes");
  if (f->times && f->values && json_array_size(f->times) != json_array_size(f->values))
    poli_report(reader, &values, "", "must have as many numbers as \"times\"");
}

/* --- controllers ------------------------------------------------------------------------------ */

void poli_check_controller(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  const poli_model_controller *controller = object;
  const json_t *first = json_object_get(json_object_get(reader->names, "controllers"),
                                        controller->name ? controller->name : "");
  const poli_place name = poli_place_key(place, "name"), outputs = poli_place_key(place, "outputs");
  (void)sound;
  if (first && (size_t)json_integer_value(first) != place->index)
    poli_report(reader, &name, "", "must be unique: controllers[%d] has the same name",
                (int)json_integer_value(first));
  if (json_is_object(outputs.value) && json_object_size(outputs.value) == 0)
    poli_report(reader, &outputs, "", "must name at least one output of the FMU");
}

/* --- events ----------------------------------------------------------------------------------- */

void poli_check_event(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  const poli_model_event *event = object;
  const poli_place direction = poli_place_key(place, "direction");
  const poli_place name = poli_place_key(place, "name");
  const json_t *holder =
      json_object_get(json_object_get(reader->names, "events"), event->name ? event->name : "");
  (void)sound;
  if (holder && json_integer_value(holder) != (json_int_t)place->index)
    poli_report(reader, &name, "", "must be unique: events[%d] has the same name",
                (int)json_integer_value(holder));
  if (event->action == POL_EVENT_RESET && direction.value && event->direction == POLI_BOTH)
    poli_report(reader, &direction, "", "must be \"rising\" or \"falling\" for a reset");
}

/* --- steps of variable size ------------------------------------------------------------------- */

void poli_check_control(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  const pol_control *control = &((const poli_model_simulation *)object)->settings.options.control;
  const poli_place at = poli_place_key(place, "min_step");
  if (sound && control->max_step > 0.0 && control->min_step > control->max_step)
    poli_report(reader, &at, "", "must not be above max_step, which is %.10g", control->max_step);
}

/* Whether the steps are variable, and their tolerances, from what is given; output times end with
 * the run. */
static void settle_control(poli_reader *reader, const poli_place *place,
                           poli_model_simulation *simulation, int sound)
{
  pol_settings *settings = &simulation->settings;
  pol_control *control = &settings->options.control;
  const int rtol = poli_given(place, "rtol"), atol = poli_given(place, "atol");
  settings->variable = rtol || atol;
  if (poli_given(place, "steps") && simulation->steps >= 0)
    settings->variable = simulation->steps == 1;
  if (atol) {
    control->atol_translation = simulation->atol[0];
    control->atol_rotation = simulation->atol[1];
    if (!rtol) control->rtol = 0.0;
  } else if (rtol) {
    control->atol_translation = control->atol_rotation = control->rtol;
  }
  if (control->controller == POL_CONTROLLER_REVERSIBLE) {
    const poli_place object = poli_place_key(place, "control");
    const poli_place at = poli_place_key(&object, "controller");
    settings->variable = 1;
    control->first_step = settings->step;
    if (rtol || atol)
      poli_report(reader, &at, "", "must not be reversible together with rtol or atol");
  }

  const poli_place output = poli_place_key(place, "output");
  const poli_place times = poli_place_key(&output, "times");
  const size_t count = json_array_size(simulation->output_times);
  if (count == 0 || !sound) return;
  const poli_place last = poli_place_item(&times, count - 1);
  if (json_number_value(last.value) > settings->end)
    poli_report(reader, &last, "", "must not be above the end of the run, %.10g", settings->end);
}

/* --- the parameters of a method --------------------------------------------------------------- */

/* Whether a method sets these parameters by its name: newmark has gamma and beta, hht alpha. */
static int is_named(const char *method)
{
  return strcmp(method, "newmark") == 0 || strcmp(method, "hht") == 0;
}

/* The four parameters come together and without rho_inf. */
static void check_parameters(poli_reader *reader, const poli_place *place, const poli_kind *kind)
{
  static const char *const four[] = {"alpha_m", "alpha_f", "beta", "gamma"};
  const poli_place rho_inf = poli_place_key(place, "rho_inf");
  int count = 0;
  for (int i = 0; i < 4; i++) count += poli_given(place, four[i]);
  if (count == 0) return;
  if (rho_inf.value)
    poli_report(reader, &rho_inf, "",
                "must not be given together with alpha_m, alpha_f, beta, gamma");
  for (int i = 0; i < 4; i++)
    if (!poli_given(place, four[i]))
      poli_report_missing(reader, place, kind->fields, four[i],
                          "alpha_m, alpha_f, beta, gamma must be given together");
}

/* The method and its parameters, which are sound.  Those of one method have no effect on another,
 * so that one file serves all of them; they are listed for a warning.  What the variational methods
 * do not use is seen in the options. */
static void set_method(const poli_place *place, const poli_model_simulation *simulation,
                       const char *method, pol_settings *settings)
{
  static const char *const keys[] = {"rho_inf", "alpha_m", "alpha_f", "beta", "gamma", "alpha"};
  const int newmark = strcmp(method, "newmark") == 0, hht = strcmp(method, "hht") == 0;
  pol_options *options = &settings->options;
  options->method = method;
  if (newmark) {
    const double gamma = poli_given(place, "gamma") ? options->gamma : 0.5;
    const double beta = 0.25 * (gamma + 0.5) * (gamma + 0.5);
    pol_options_set_newmark(options, gamma, poli_given(place, "beta") ? options->beta : beta);
  } else if (hht) {
    pol_options_set_method(options, method);
    if (poli_given(place, "alpha")) pol_options_set_hht(options, simulation->alpha);
  } else if (poli_given(place, "rho_inf")) {
    pol_options_set_rho_inf(options, simulation->rho_inf);
  }
  /* steps of variable size: what the file leaves open is what serves them best, stabilized index 2
   * with rho_inf 0.8; newmark and hht stay those of the paper */
  if (settings->variable && !is_named(method) &&
      strstr(pol_method_find(method)->settings, "index")) {
    if (!poli_given(place, "index")) options->index = POL_INDEX_2_STABILIZED;
    if (!poli_given(place, "rho_inf") && !poli_given(place, "beta"))
      pol_options_set_rho_inf(options, 0.8);
  }
  char *list = settings->unused;
  for (int i = 0; i < 6; i++)
    if (poli_given(place, keys[i]) && (i == 5 ? !hht : hht || (newmark && i < 3)))
      snprintf(list + strlen(list), sizeof settings->unused - strlen(list), "%s%s",
               list[0] ? ", " : "", keys[i]);
}

/* What the choice of a method has to keep.  A file that names no method but parameters of
 * generalized-alpha means that; beside "auto" they apply if the choice falls on it. */
static void settle_choice(const poli_place *place, poli_model_simulation *simulation)
{
  static const char *const keys[] = {"index", "rho_inf", "alpha_m", "alpha_f", "beta",
                                     "gamma", "sigma",   "start",   "newton",  "published"};
  char *list = simulation->not_rattle;
  int count = 0;
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    if (!poli_given(place, keys[i])) continue;
    snprintf(list + strlen(list), sizeof simulation->not_rattle - strlen(list), "%s%s",
             list[0] ? ", " : "", keys[i]);
    count += strcmp(keys[i], "index") != 0 && strcmp(keys[i], "newton") != 0;
  }
  simulation->keep = 0;
  if (count > 0 && !poli_given(place, "method")) simulation->keep |= POL_KEEP_ALPHA;
  if (poli_given(place, "formulation")) simulation->keep |= POL_KEEP_FORMULATION;
  if (poli_given(place, "order")) simulation->keep |= POL_KEEP_ORDER;
  if (poli_given(place, "sigma")) simulation->keep |= POL_KEEP_SIGMA;
}

void poli_check_simulation(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  const poli_kind *kind = poli_find_field(poli_model_kind.fields, "simulation")->detail;
  poli_model_simulation *simulation = object;
  pol_settings *settings = &simulation->settings;
  pol_options *options = &settings->options;
  const int before = reader->errors->count;
  simulation->automatic = simulation->method == pol_method_count();
  settle_choice(place, simulation);
  const char *method = simulation->method >= 0 && !simulation->automatic
                           ? pol_method_at(simulation->method)->name
                           : options->method;
  if (!is_named(method)) check_parameters(reader, place, kind);
  settle_control(reader, place, simulation, sound);
  if ((!settings->variable || options->control.controller == POL_CONTROLLER_REVERSIBLE) &&
      !poli_given(place, "step"))
    poli_report_missing(reader, place, kind->fields, "step", poli_positive.rule);
  if (!sound || reader->errors->count != before) return;

  set_method(place, simulation, method, settings);
  /* the sigma that removes the bracket term of the local error (Holzinger/Arnold/Gerstmayr) */
  if (poli_given(place, "sigma"))
    options->sigma =
        isnan(simulation->sigma) ? options->gamma / (3.0 * options->beta) : simulation->sigma;

  /* a rule that starts with a key ("step must ...", "output.step must ...") is reported there,
   * others at "simulation" */
  char message[256] = "", keys[2][32] = {"", ""};
  int end = 0;
  if (pol_settings_validate(settings, message, sizeof message) == POL_OK) return;
  sscanf(message, "%31[^. ]%n.%31[^ ]%n", keys[0], &end, keys[1], &end);
  const poli_place outer = poli_place_key(place, keys[0]);
  const poli_place inner = poli_place_key(&outer, keys[1]);
  const poli_place *at = *keys[1] ? &inner : &outer;
  if (at->value && strncmp(message + end, " must ", 6) == 0)
    poli_report(reader, at, "", "%s", message + end + 1);
  else
    poli_report(reader, place, "", "%s", message);
}
