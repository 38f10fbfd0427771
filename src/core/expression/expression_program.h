/* The compiled form of an expression: a program for a stack machine.
 *
 * Operands come before their operation (postfix), so 2*(a + b) is CONSTANT 2, INPUT a, INPUT b,
 * ADD, MULTIPLY.  Branches are jumps: if(c, a, b) is
 *
 *     c, JUMP_UNLESS 1, a, JUMP 2, 1: b, 2:
 *
 * Shared by the compiler (expression_parse.c) and the machine (expression.c).
 */
#ifndef POLHODE_MECHANISM_EXPRESSION_PROGRAM_H
#define POLHODE_MECHANISM_EXPRESSION_PROGRAM_H

#include "expression/expression.h"

typedef enum poli_operation {
  POLI_OP_CONSTANT,    /* push number */
  POLI_OP_INPUT,       /* push the used input `index` */
  POLI_OP_JUMP,        /* go on at instruction `index` */
  POLI_OP_JUMP_UNLESS, /* pop; go on at `index` if it is 0 */

  /* one operand */
  POLI_OP_NEGATE,
  POLI_OP_NOT,
  POLI_OP_TRUTH, /* 0 of 0, else 1 */
  POLI_OP_SIN,
  POLI_OP_COS,
  POLI_OP_TAN,
  POLI_OP_ASIN,
  POLI_OP_ACOS,
  POLI_OP_ATAN,
  POLI_OP_SINH,
  POLI_OP_COSH,
  POLI_OP_TANH,
  POLI_OP_EXP,
  POLI_OP_LOG,
  POLI_OP_LOG10,
  POLI_OP_SQRT,
  POLI_OP_ABS,
  POLI_OP_SIGN,
  POLI_OP_FLOOR,
  POLI_OP_SMOOTH, /* the quintic from 0 to 1 of a step; part of POLI_OP_STEP */

  /* two operands */
  POLI_OP_ADD,
  POLI_OP_SUBTRACT,
  POLI_OP_MULTIPLY,
  POLI_OP_DIVIDE,
  POLI_OP_POWER,
  POLI_OP_ATAN2,
  POLI_OP_HYPOT,
  POLI_OP_MIN,
  POLI_OP_MAX,
  POLI_OP_MOD,
  POLI_OP_LESS,
  POLI_OP_LESS_EQUAL,
  POLI_OP_GREATER,
  POLI_OP_GREATER_EQUAL,
  POLI_OP_EQUAL,
  POLI_OP_NOT_EQUAL,

  POLI_OP_CLAMP, /* three operands */
  POLI_OP_STEP   /* five */
} poli_operation;

typedef struct poli_instruction {
  poli_operation operation;
  int index;
  double number;
} poli_instruction;

struct pol_expression {
  poli_instruction *code;
  int length;
  int *inputs; /* ascending */
  int num_inputs;
  int depth; /* of the stack, at most POLI_EXPRESSION_DEPTH */
};

/* How many operands an operation takes from the stack, where it leaves one. */
int poli_operation_arity(poli_operation operation);

/* The result of an operation on as many numbers as it takes, which are overwritten. */
double poli_operation_value(poli_operation operation, double *operands);

#endif
