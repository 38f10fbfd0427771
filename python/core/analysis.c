/* Equilibria, modes and linearised equations. */
#include "core.h"

#include <string.h>

/* The analysis of a model at time t, at its equilibrium if steps is above 0; NULL with an
 * exception. */
static pol_analysis *start(core_model *model, double t, int steps, pol_static_report *report)
{
  pol_analysis *analysis = NULL;
  pol_diagnostics wrong = {0};
  pol_static_options options = pol_static_options_default();
  pol_status status;
  options.steps = steps;
  Py_BEGIN_ALLOW_THREADS status =
      pol_analysis_create(&analysis, model->model->mechanism, t, &wrong);
  if (!status && steps > 0) status = pol_analysis_equilibrium(analysis, &options, report, &wrong);
  Py_END_ALLOW_THREADS if (!status) return analysis;
  pol_analysis_free(&analysis);
  if (status == POL_NO_MEMORY)
    PyErr_NoMemory();
  else
    core_raise_failure(model, &wrong);
  return NULL;
}

static PyObject *numbers(const double *data, int count)
{
  return PyBytes_FromStringAndSize((const char *)data, (Py_ssize_t)sizeof *data * count);
}

/* static(model, t, steps) -> (report, [bytes of pol_body_state]) */
PyObject *core_static(PyObject *module, PyObject *args)
{
  PyObject *model;
  double t;
  int steps;
  pol_static_report r = {0};
  (void)module;
  if (!PyArg_ParseTuple(args, "O!di", core_model_type, &model, &t, &steps)) return NULL;
  pol_analysis *analysis = start((core_model *)model, t, steps, &r);
  if (!analysis) return NULL;
  const pol_state *state = pol_analysis_state(analysis);
  const int count = pol_mechanism_num_bodies(((core_model *)model)->model->mechanism);
  PyObject *bodies = PyList_New(count);
  for (int i = 0; bodies && i < count; i++) {
    pol_body_state body;
    pol_formulation_body_state(pol_analysis_formulation(analysis), state->q, state->v, i, &body);
    PyList_SetItem(bodies, i,
                   PyBytes_FromStringAndSize((const char *)&body, (Py_ssize_t)sizeof body));
  }
  PyObject *found = Py_BuildValue(
      "({s:i, s:i, s:d, s:i, s:i, s:i, s:d, s:d, s:s}N)", "load_steps", r.load_steps, "iterations",
      r.iterations, "residual", r.residual, "freedoms", r.freedoms, "unstable", r.unstable,
      "neutral", r.neutral, "least", r.least, "flutter", r.flutter, "softest", r.softest, bodies);
  pol_analysis_free(&analysis);
  return found;
}

/* modes(model, t, steps, count) -> [(re, im, frequency, damping, shape_re, shape_im)] */
PyObject *core_modes(PyObject *module, PyObject *args)
{
  PyObject *model;
  double t;
  int steps;
  pol_static_report report = {0};
  pol_modes_options options = pol_modes_options_default();
  (void)module;
  if (!PyArg_ParseTuple(args, "O!dii", core_model_type, &model, &t, &steps, &options.count))
    return NULL;
  pol_analysis *analysis = start((core_model *)model, t, steps, &report);
  if (!analysis) return NULL;
  pol_modes *modes = NULL;
  pol_diagnostics wrong = {0};
  pol_status status;
  Py_BEGIN_ALLOW_THREADS status = pol_modes_create(&modes, analysis, &options, &wrong);
  Py_END_ALLOW_THREADS PyObject *list = NULL;
  if (status == POL_NO_MEMORY)
    PyErr_NoMemory();
  else if (status)
    core_raise_failure((core_model *)model, &wrong);
  else
    list = PyList_New(pol_modes_count(modes));
  const int nv = pol_formulation_dae(pol_analysis_formulation(analysis))->group.nv;
  for (int i = 0; list && i < pol_modes_count(modes); i++) {
    const pol_mode *m = pol_modes_get(modes, i);
    PyList_SetItem(list, i,
                   Py_BuildValue("(ddddNN)", m->re, m->im, m->frequency, m->damping,
                                 numbers(m->shape_re, nv), numbers(m->shape_im, nv)));
  }
  pol_modes_free(&modes);
  pol_analysis_free(&analysis);
  return list;
}

/* Texts of a list of at most 256 str; their number, or -1 with an exception. */
enum { MAX_NAMES = 256 };
static int names_of(PyObject *list, const char *names[MAX_NAMES])
{
  const Py_ssize_t count = PyList_Size(list);
  if (count > MAX_NAMES) PyErr_Format(PyExc_ValueError, "at most %d names", MAX_NAMES);
  if (count < 0 || count > MAX_NAMES) return -1;
  for (Py_ssize_t i = 0; i < count; i++)
    if (!(names[i] = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, i), NULL))) return -1;
  return (int)count;
}

static PyObject *name_list(const char *const *names, int count)
{
  PyObject *list = PyList_New(count);
  for (int i = 0; list && i < count; i++) PyList_SetItem(list, i, PyUnicode_FromString(names[i]));
  return list;
}

/* linearize(model, t, steps, coordinates, inputs, outputs) -> dict; matrices by columns */
PyObject *core_linearize(PyObject *module, PyObject *args)
{
  PyObject *model, *lists[3];
  double t;
  int steps, counts[3];
  const char *names[3][MAX_NAMES];
  pol_static_report report = {0};
  (void)module;
  if (!PyArg_ParseTuple(args, "O!diO!O!O!", core_model_type, &model, &t, &steps, &PyList_Type,
                        &lists[0], &PyList_Type, &lists[1], &PyList_Type, &lists[2]))
    return NULL;
  for (int k = 0; k < 3; k++)
    if ((counts[k] = names_of(lists[k], names[k])) < 0) return NULL;
  pol_analysis *analysis = start((core_model *)model, t, steps, &report);
  if (!analysis) return NULL;
  const pol_linear_options options = {.num_coordinates = counts[0],
                                      .coordinates = names[0],
                                      .num_inputs = counts[1],
                                      .inputs = names[1],
                                      .num_outputs = counts[2],
                                      .outputs = names[2]};
  pol_linear *linear = NULL;
  pol_errors errors = {0};
  pol_diagnostics wrong = {0};
  pol_status status;
  Py_BEGIN_ALLOW_THREADS status = pol_linear_create(&linear, analysis, &options, &errors, &wrong);
  Py_END_ALLOW_THREADS PyObject *found = NULL;
  if (status == POL_NO_MEMORY)
    PyErr_NoMemory();
  else if (errors.count > 0)
    core_raise_errors(&errors);
  else if (status)
    core_raise_failure((core_model *)model, &wrong);
  else
    found = Py_BuildValue("{s:N, s:N, s:N, s:N, s:N, s:N, s:N}", "A",
                          numbers(linear->A, linear->n * linear->n), "B",
                          numbers(linear->B, linear->n * linear->num_inputs), "C",
                          numbers(linear->C, linear->num_outputs * linear->n), "D",
                          numbers(linear->D, linear->num_outputs * linear->num_inputs), "states",
                          name_list(linear->state_names, linear->n), "inputs",
                          name_list(linear->input_names, linear->num_inputs), "outputs",
                          name_list(linear->output_names, linear->num_outputs));
  pol_errors_clear(&errors);
  pol_linear_free(&linear);
  pol_analysis_free(&analysis);
  return found;
}
