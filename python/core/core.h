/* polhode._core: the extension module under the Python package.  It wraps models, simulations,
 * results and analyses as few plain types; everything that can be written in Python is there
 * (python/polhode).  Built with the limited API, so that one file serves all versions of Python
 * from 3.11 on. */
#ifndef POLHODE_PYTHON_CORE_H
#define POLHODE_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <polhode/analysis.h>
#include <polhode/fmu.h>
#include <polhode/model.h>
#include <polhode/polhode.h>
#include <polhode/result.h>
#include <polhode/view.h>

/* A force given by a Python function; the model keeps it. */
typedef struct core_callback {
  char *name;         /* of the force */
  PyObject *function; /* f(t) -> force, or force and torque; reads the buffer below */
  double *motion;     /* position 3, rotation 9, velocity 3, angular velocity 3 of body and other */
  PyObject *exception; /* what the function raised, until the step has ended; else NULL */
  struct core_callback *next;
} core_callback;

enum { CORE_MOTION_SIZE = 36 };

/* A model: what a file or a text contains, and forces by Python functions. */
typedef struct core_model {
  PyObject_HEAD pol_model *model;
  core_callback *callbacks;
} core_model;

/* Numbers of an owner as a buffer, without a copy. */
typedef struct core_array {
  PyObject_HEAD PyObject *owner;
  double *data;
  Py_ssize_t size;
  int writable;
} core_array;

extern PyTypeObject *core_model_type, *core_array_type, *core_simulation_type;

/* Creates the types and adds them to the module; 0, or -1 with an exception. */
int core_add_model(PyObject *module);
int core_add_simulation(PyObject *module);

/* A new array over `size` numbers that the owner holds. */
PyObject *core_array_new(PyObject *owner, const double *data, Py_ssize_t size, int writable);

/* Raise polhode.ModelError of a list of errors, or polhode.SimulationError of diagnostics; an
 * exception of a callback of the model comes first.  Both return NULL. */
PyObject *core_raise_errors(const pol_errors *errors);
PyObject *core_raise_failure(core_model *model, const pol_diagnostics *diagnostics);

/* Functions of the module: results.c and analysis.c. */
PyObject *core_read_result(PyObject *module, PyObject *args);
PyObject *core_write_view(PyObject *module, PyObject *args);
PyObject *core_static(PyObject *module, PyObject *args);
PyObject *core_modes(PyObject *module, PyObject *args);
PyObject *core_linearize(PyObject *module, PyObject *args);

#endif
