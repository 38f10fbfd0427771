/* Builds the equations of a mechanism in the coordinates of a chart: group, sparsity patterns, and
 * the addresses that every element adds into.  evaluate.c computes the terms. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formulation/formulation.h"

static pol_slot slot_at(const pol_pattern *pattern, int row, int col)
{
  return (pol_slot){.address = pol_pattern_address(pattern, row, col),
                    .stride = pattern->start[col + 1] - pattern->start[col]};
}

static int chart_columns(int body)
{
  return POL_CHART_DIM * body;
}

/* The blocks of each body and of each pair of bodies that share a joint. */
static pol_status build_patterns(pol_formulation *f)
{
  int nv = POL_CHART_DIM * f->num_bodies, m = f->dae.num_holonomic;
  size_t num_blocks = (size_t)f->num_bodies + 2 * (size_t)f->num_joints;
  pol_block *coupling = calloc(num_blocks + 1, sizeof *coupling);
  pol_block *constraint = calloc(2 * (size_t)f->num_joints + 1, sizeof *constraint);
  int num_coupling = 0, num_constraint = 0;
  pol_status status = coupling && constraint ? POL_OK : POL_NO_MEMORY;
  if (status) goto done;

  for (int i = 0; i < f->num_bodies; i++)
    coupling[num_coupling++] =
        (pol_block){chart_columns(i), chart_columns(i), POL_CHART_DIM, POL_CHART_DIM};
  for (int k = 0; k < f->num_joints; k++) {
    const pol_placed_joint *joint = &f->joints[k];
    for (int i = 0; i < 2; i++) {
      int body = joint->kernel.body[i], other = joint->kernel.body[1 - i];
      if (body == POL_GROUND) continue;
      constraint[num_constraint++] =
          (pol_block){joint->row, chart_columns(body), joint->kernel.num_rows, POL_CHART_DIM};
      if (other == POL_GROUND) continue;
      coupling[num_coupling++] =
          (pol_block){chart_columns(body), chart_columns(other), POL_CHART_DIM, POL_CHART_DIM};
    }
  }
  status = pol_pattern_create(&f->coupling, nv, nv, num_coupling, coupling);
  if (!status) status = pol_pattern_create(&f->constraint, m, nv, num_constraint, constraint);
done:
  free(coupling);
  free(constraint);
  return status;
}

/* Looks up once where each element's blocks are. */
static void place_elements(pol_formulation *f)
{
  for (int i = 0; i < f->num_bodies; i++)
    f->diagonal[i] = slot_at(f->coupling, chart_columns(i), chart_columns(i));
  for (int k = 0; k < f->num_joints; k++) {
    pol_placed_joint *joint = &f->joints[k];
    for (int j = 0; j < 2; j++) {
      int column = joint->kernel.body[j];
      if (column == POL_GROUND) continue;
      joint->jacobian[j] = slot_at(f->constraint, joint->row, chart_columns(column));
      for (int i = 0; i < 2; i++)
        if (joint->kernel.body[i] != POL_GROUND)
          joint->coupling[i][j] =
              slot_at(f->coupling, chart_columns(joint->kernel.body[i]), chart_columns(column));
    }
  }
}

/* "body 'top', torque x" or "joint 'tip', translation y" */
static void describe(int equation, char *text, size_t size, void *user)
{
  static const char axes[] = "xyz";
  const pol_formulation *f = user;
  int nv = f->dae.group.nv;
  if (equation < nv) {
    int component = equation % POL_CHART_DIM;
    snprintf(text, size, "body '%s', %s %c",
             pol_mechanism_body(f->mechanism, equation / POL_CHART_DIM)->name,
             component < 3 ? "torque" : "force", axes[component % 3]);
    return;
  }
  for (int k = 0; k < f->num_joints; k++) {
    int row = equation - nv - f->joints[k].row;
    if (row < 0 || row >= f->joints[k].kernel.num_rows) continue;
    const pol_joint *joint = pol_mechanism_joint(f->mechanism, k);
    pol_joint_row rows[POL_MAX_JOINT_ROWS];
    pol_joint_rows(joint->type, rows);
    if (rows[row].kind == POL_ROW_TRANSLATION)
      snprintf(text, size, "joint '%s', translation %c", joint->name, axes[rows[row].axis]);
    else
      snprintf(text, size, "joint '%s', rotation (axis %c against %c)", joint->name,
               axes[rows[row].axis], axes[rows[row].other]);
  }
}

static pol_status build(pol_formulation *f)
{
  const pol_chart *chart = f->chart;
  f->num_bodies = pol_mechanism_num_bodies(f->mechanism);
  f->num_joints = pol_mechanism_num_joints(f->mechanism);
  pol_mechanism_gravity(f->mechanism, f->gravity);
  int num_factors = f->num_bodies * chart->num_factors;
  f->factors = calloc((size_t)num_factors + 1, sizeof *f->factors);
  f->diagonal = calloc((size_t)f->num_bodies + 1, sizeof *f->diagonal);
  f->joints = calloc((size_t)f->num_joints + 1, sizeof *f->joints);
  if (!f->factors || !f->diagonal || !f->joints) return POL_NO_MEMORY;

  for (int i = 0; i < num_factors; i++) f->factors[i] = chart->factors[i % chart->num_factors];
  pol_status status = pol_group_layout(&f->dae.group, f->factors, num_factors);
  if (status) return status;
  for (int k = 0; k < f->num_joints; k++) {
    pol_joint_kernel_setup(&f->joints[k].kernel, f->mechanism, k);
    f->joints[k].row = f->dae.num_holonomic;
    f->dae.num_holonomic += f->joints[k].kernel.num_rows;
  }
  status = build_patterns(f);
  if (status) return status;
  place_elements(f);

  f->dae.coupling = f->coupling;
  f->dae.constraint = f->constraint;
  f->dae.scratch_size = pol_formulation_scratch(f->num_bodies);
  f->dae.evaluate = pol_formulation_evaluate;
  f->dae.describe = describe;
  f->dae.user = f;
  return POL_OK;
}

pol_status pol_formulation_create(pol_formulation **formulation, const pol_mechanism *mechanism,
                                  pol_formulation_kind kind)
{
  *formulation = NULL;
  const pol_chart *chart = pol_chart_of(kind);
  if (!chart || pol_mechanism_num_bodies(mechanism) == 0) return POL_BAD_ARGUMENT;
  pol_formulation *f = calloc(1, sizeof *f);
  if (!f) return POL_NO_MEMORY;
  f->mechanism = mechanism;
  f->kind = kind;
  f->chart = chart;
  pol_status status = build(f);
  if (status)
    pol_formulation_free(&f);
  else
    *formulation = f;
  return status;
}

void pol_formulation_free(pol_formulation **formulation)
{
  pol_formulation *f = *formulation;
  if (!f) return;
  pol_pattern_free(&f->coupling);
  pol_pattern_free(&f->constraint);
  free(f->factors);
  free(f->diagonal);
  free(f->joints);
  free(f);
  *formulation = NULL;
}

const pol_dae *pol_formulation_dae(const pol_formulation *formulation)
{
  return &formulation->dae;
}

const pol_mechanism *pol_formulation_mechanism(const pol_formulation *formulation)
{
  return formulation->mechanism;
}

pol_formulation_kind pol_formulation_get_kind(const pol_formulation *formulation)
{
  return formulation->kind;
}
