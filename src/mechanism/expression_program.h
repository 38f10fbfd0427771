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

#include "mechanism/expression.h"

typedef enum pol_operation {
  POL_OP_CONSTANT,    /* push number */
  POL_OP_INPUT,       /* push the used input `index` */
  POL_OP_JUMP,        /* go on at instruction `index` */
  POL_OP_JUMP_UNLESS, /* pop; go on at `index` if it is 0 */

  /* one operand */
  POL_OP_NEGATE,
  POL_OP_NOT,
  POL_OP_TRUTH, /* 0 of 0, else 1 */
  POL_OP_SIN,
  POL_OP_COS,
  POL_OP_TAN,
  POL_OP_ASIN,
  POL_OP_ACOS,
  POL_OP_ATAN,
  POL_OP_SINH,
  POL_OP_COSH,
  POL_OP_TANH,
  POL_OP_EXP,
  POL_OP_LOG,
  POL_OP_LOG10,
  POL_OP_SQRT,
  POL_OP_ABS,
  POL_OP_SIGN,
  POL_OP_FLOOR,
  POL_OP_SMOOTH, /* the quintic from 0 to 1 of a step; part of POL_OP_STEP */

  /* two operands */
  POL_OP_ADD,
  POL_OP_SUBTRACT,
  POL_OP_MULTIPLY,
  POL_OP_DIVIDE,
  POL_OP_POWER,
  POL_OP_ATAN2,
  POL_OP_HYPOT,
  POL_OP_MIN,
  POL_OP_MAX,
  POL_OP_MOD,
  POL_OP_LESS,
  POL_OP_LESS_EQUAL,
  POL_OP_GREATER,
  POL_OP_GREATER_EQUAL,
  POL_OP_EQUAL,
  POL_OP_NOT_EQUAL,

  POL_OP_CLAMP, /* three operands */
  POL_OP_STEP   /* five */
} pol_operation;

typedef struct pol_instruction {
  pol_operation operation;
  int index;
  double number;
} pol_instruction;

struct pol_expression {
  pol_instruction *code;
  int length;
  int *inputs; /* ascending */
  int num_inputs;
  int depth; /* of the stack, at most POL_EXPRESSION_DEPTH */
};

/* How many operands an operation takes from the stack, where it leaves one. */
int pol_operation_arity(pol_operation operation);

/* The result of an operation on as many numbers as it takes, which are overwritten. */
double pol_operation_value(pol_operation operation, double *operands);

#endif
