/* The compiler of expressions: recursive descent, one function a level of the grammar in
 * expression.h, which appends instructions as it reads (Wirth, Compiler Construction, 1996).
 *
 * An operation whose operands are all constants is done at once.  That looks at the last
 * instructions only, and never past a place where a jump lands, since the value there may have come
 * another way.
 *
 * After the first error the token is the end of the text and stays so: every loop stops, nothing is
 * appended any more, and all functions return.
 */
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expression/expression_program.h"

typedef enum token_kind {
  TOKEN_END,
  TOKEN_NUMBER,
  TOKEN_NAME,
  TOKEN_AND,
  TOKEN_OR,
  TOKEN_NOT,
  TOKEN_PLUS,
  TOKEN_MINUS,
  TOKEN_TIMES,
  TOKEN_OVER,
  TOKEN_POWER,
  TOKEN_OPEN,
  TOKEN_CLOSE,
  TOKEN_COMMA,
  TOKEN_LESS, /* the comparisons: in the order of their operations */
  TOKEN_LESS_EQUAL,
  TOKEN_GREATER,
  TOKEN_GREATER_EQUAL,
  TOKEN_EQUAL,
  TOKEN_NOT_EQUAL
} token_kind;

typedef struct token {
  token_kind kind;
  const char *start;
  double number;
  int quoted;                          /* a name with quotes is never a word of the language */
  char text[POLI_EXPRESSION_NAME + 1]; /* as written; of a name without its quotes */
} token;

typedef struct parser {
  const char *text, *at;
  token now;
  const poli_expression_names *names;
  poli_expression_error *error;
  pol_status status;
  poli_instruction *code;
  int length, capacity;
  int landing; /* the last instruction at which a jump lands */
  int depth, max_depth;
  int nesting;
} parser;

typedef struct function {
  const char *name;
  poli_operation operation;
  int arguments; /* at least, if the operation joins them one by one */
} function;

/* if is the one that is made of jumps. */
static const function functions[] = {
    {"if", POLI_OP_JUMP_UNLESS, 3}, {"sin", POLI_OP_SIN, 1},     {"cos", POLI_OP_COS, 1},
    {"tan", POLI_OP_TAN, 1},        {"asin", POLI_OP_ASIN, 1},   {"acos", POLI_OP_ACOS, 1},
    {"atan", POLI_OP_ATAN, 1},      {"atan2", POLI_OP_ATAN2, 2}, {"sinh", POLI_OP_SINH, 1},
    {"cosh", POLI_OP_COSH, 1},      {"tanh", POLI_OP_TANH, 1},   {"exp", POLI_OP_EXP, 1},
    {"log", POLI_OP_LOG, 1},        {"log10", POLI_OP_LOG10, 1}, {"sqrt", POLI_OP_SQRT, 1},
    {"abs", POLI_OP_ABS, 1},        {"sign", POLI_OP_SIGN, 1},   {"floor", POLI_OP_FLOOR, 1},
    {"pow", POLI_OP_POWER, 2},      {"mod", POLI_OP_MOD, 2},     {"min", POLI_OP_MIN, 2},
    {"max", POLI_OP_MAX, 2},        {"hypot", POLI_OP_HYPOT, 2}, {"clamp", POLI_OP_CLAMP, 3},
    {"step", POLI_OP_STEP, 5},
};
enum { NUM_FUNCTIONS = sizeof functions / sizeof *functions };

static int joins_one_by_one(const function *f)
{
  return f->operation == POLI_OP_MIN || f->operation == POLI_OP_MAX ||
         f->operation == POLI_OP_HYPOT;
}

static const function *find_function(const char *name)
{
  for (int i = 0; i < NUM_FUNCTIONS; i++)
    if (strcmp(functions[i].name, name) == 0) return &functions[i];
  return NULL;
}

/* --- errors ----------------------------------------------------------------------------------- */

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static void
fail(parser *p, const char *at, const char *format, ...)
{
  if (p->status) return;
  p->status = POL_BAD_ARGUMENT;
  p->now.kind = TOKEN_END;
  p->error->column = 1;
  for (const char *c = p->text; c < at; c++) p->error->column += ((unsigned char)*c & 0xc0) != 0x80;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(p->error->message, sizeof p->error->message, format, arguments);
  va_end(arguments);
}

/* The near name that the caller knows. */
static void suggest(parser *p, const char *wrong, int is_function)
{
  const char *known[NUM_FUNCTIONS + 1] = {NULL};
  if (!p->names->suggest) return;
  for (int i = 0; i < NUM_FUNCTIONS; i++) known[i] = functions[i].name;
  const char *near = p->names->suggest(wrong, is_function ? known : NULL, p->names->user);
  snprintf(p->error->suggestion, sizeof p->error->suggestion, "%s", near ? near : "");
}

/* --- tokens ----------------------------------------------------------------------------------- */

static int is_digit(char c)
{
  return c >= '0' && c <= '9';
}

static int is_letter(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static const char *skip_digits(const char *at)
{
  while (is_digit(*at)) at++;
  return at;
}

/* Digits with a point somewhere, then perhaps an exponent.  strtod wants the point of the locale.
 */
static void read_number(parser *p, token *new)
{
  const char *point = localeconv()->decimal_point;
  const char *start = p->at, *end = skip_digits(start), *dot = *end == '.' ? end : NULL;
  char text[sizeof new->text + 16];
  if (dot) end = skip_digits(dot + 1);
  if (*end == 'e' || *end == 'E') {
    const char *exponent = end + 1 + (end[1] == '+' || end[1] == '-');
    if (is_digit(*exponent)) end = skip_digits(exponent);
  }
  const int length = (int)(end - start), before = dot ? (int)(dot - start) : length;
  p->at = end;
  if (length > POLI_EXPRESSION_NAME) {
    fail(p, start, "a number must not be longer than %d characters", POLI_EXPRESSION_NAME);
    return;
  }
  new->kind = TOKEN_NUMBER;
  snprintf(new->text, sizeof new->text, "%.*s", length, start);
  if (dot)
    snprintf(text, sizeof text, "%.*s%s%.*s", before, start, point, length - before - 1, dot + 1);
  else
    snprintf(text, sizeof text, "%s", new->text);
  new->number = strtod(text, NULL);
  if (!isfinite(new->number)) fail(p, start, "'%s' is too large a number", new->text);
}

static int is_control(char c)
{
  return (c >= 0 && c < ' ') || c == 127;
}

/* A character that has no place outside quotes, or nowhere. */
static void fail_at_character(parser *p, const char *at)
{
  const unsigned c = (unsigned char)*at;
  if (c == '=')
    fail(p, at, "'=' is not an operator: equality is '=='");
  else if (is_control(*at))
    fail(p, at, "the control character 0x%02x must not be used", c);
  else if (c >= 128)
    fail(p, at, "the byte 0x%02x must be in quotes", c);
  else
    fail(p, at, "'%c' is not allowed in expressions", (char)c);
}

/* Appends the bytes from start to end to the name. */
static void append_part(parser *p, token *new, const char *start, const char *end)
{
  const size_t used = strlen(new->text), length = (size_t)(end - start);
  for (const char *c = start; c < end; c++)
    if (is_control(*c)) fail_at_character(p, c);
  if (used + length > POLI_EXPRESSION_NAME) {
    fail(p, new->start, "a name must not be longer than %d bytes", POLI_EXPRESSION_NAME);
    return;
  }
  memcpy(new->text + used, start, length);
  new->text[used + length] = '\0';
}

/* Parts between dots: letters and digits, or anything in quotes. */
static void read_name(parser *p, token *new)
{
  const char *point;
  new->kind = TOKEN_NAME;
  do {
    const char *start = p->at, *end = start;
    if (*start == '\'') {
      end = strchr(++start, '\'');
      if (!end || end == start) {
        fail(p, p->at, end ? "'' is an empty name" : "the closing quote ' is missing");
        return;
      }
      new->quoted = 1;
      p->at = end + 1;
    } else {
      while (is_letter(*end) || is_digit(*end)) end++;
      if (end == start) {
        fail(p, start - 1, "'%s' is not a name: one more part must follow the '.'", new->text);
        return;
      }
      p->at = end;
    }
    append_part(p, new, start, end);
    point = p->at;
    if (*point == '.' && !p->status) append_part(p, new, p->at++, point + 1);
  } while (*point == '.' && !p->status);
}

/* One or two characters, the longer first. */
static void read_sign(parser *p, token *new)
{
  static const struct {
    const char *text;
    token_kind kind;
  } signs[] = {{"<=", TOKEN_LESS_EQUAL}, {">=", TOKEN_GREATER_EQUAL}, {"==", TOKEN_EQUAL},
               {"!=", TOKEN_NOT_EQUAL},  {"<", TOKEN_LESS},           {">", TOKEN_GREATER},
               {"+", TOKEN_PLUS},        {"-", TOKEN_MINUS},          {"*", TOKEN_TIMES},
               {"/", TOKEN_OVER},        {"^", TOKEN_POWER},          {"(", TOKEN_OPEN},
               {")", TOKEN_CLOSE},       {",", TOKEN_COMMA}};
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
    const size_t length = strlen(signs[i].text);
    if (strncmp(p->at, signs[i].text, length) != 0) continue;
    new->kind = signs[i].kind;
    strcpy(new->text, signs[i].text);
    p->at += length;
    return;
  }
  fail_at_character(p, p->at);
}

/* Reads the next token into p->now. */
static void advance(parser *p)
{
  if (p->status) return;
  p->at += strspn(p->at, " \t\r\n");
  token *new = &p->now;
  *new = (token){.kind = TOKEN_END, .start = p->at};
  if (*p->at == '\0') return;
  if (is_digit(*p->at) || (*p->at == '.' && is_digit(p->at[1])))
    read_number(p, new);
  else if (is_letter(*p->at) || *p->at == '\'')
    read_name(p, new);
  else
    read_sign(p, new);
  if (p->status || new->kind != TOKEN_NAME || new->quoted) return;
  if (strcmp(new->text, "and") == 0) new->kind = TOKEN_AND;
  if (strcmp(new->text, "or") == 0) new->kind = TOKEN_OR;
  if (strcmp(new->text, "not") == 0) new->kind = TOKEN_NOT;
}

static int accept(parser *p, token_kind kind)
{
  if (p->now.kind != kind) return 0;
  advance(p);
  return 1;
}

/* The token is not what must stand here. */
static void fail_at_token(parser *p, const char *rule)
{
  if (p->now.kind == TOKEN_END)
    fail(p, p->now.start, "unexpected end: %s", rule);
  else
    fail(p, p->now.start, "unexpected '%s': %s", p->now.text, rule);
}

/* --- instructions ----------------------------------------------------------------------------- */

static void append(parser *p, poli_operation operation, int index, double number)
{
  if (p->status) return;
  if (p->length == p->capacity) {
    const int capacity = p->capacity ? 2 * p->capacity : 16;
    poli_instruction *code = realloc(p->code, (size_t)capacity * sizeof *code);
    if (!code) {
      p->status = POL_NO_MEMORY;
      p->now.kind = TOKEN_END;
      return;
    }
    p->code = code;
    p->capacity = capacity;
  }
  p->code[p->length++] = (poli_instruction){operation, index, number};
}

/* An instruction that leaves one value more on the stack. */
static void push(parser *p, poli_operation operation, int index, double number)
{
  append(p, operation, index, number);
  if (++p->depth > p->max_depth) p->max_depth = p->depth;
  if (p->depth > POLI_EXPRESSION_DEPTH)
    fail(p, p->now.start, "is too complex: more than %d operands are pending",
         POLI_EXPRESSION_DEPTH);
}

/* An operation on the last values, done at once if they are constants. */
static void operate(parser *p, poli_operation operation)
{
  if (p->status) return;
  const int count = poli_operation_arity(operation), first = p->length - count;
  double operands[5];
  p->depth -= count - 1;
  int known = first >= p->landing;
  for (int i = 0; i < count && known; i++) {
    known = p->code[first + i].operation == POLI_OP_CONSTANT;
    operands[i] = p->code[first + i].number;
  }
  if (!known) {
    append(p, operation, 0, 0.0);
    return;
  }
  p->length = first;
  append(p, POLI_OP_CONSTANT, 0, poli_operation_value(operation, operands));
}

/* A jump takes a value from the stack: its condition, or the result that the other branch will
 * leave too.  Returns where it is. */
static int jump(parser *p, poli_operation operation)
{
  append(p, operation, 0, 0.0);
  p->depth--;
  return p->length - 1;
}

/* The jump goes to the next instruction. */
static void land(parser *p, int from)
{
  if (p->status) return;
  p->code[from].index = p->landing = p->length;
}

/* --- the grammar ------------------------------------------------------------------------------ */

static void parse_or(parser *p);

static void parse_closed(parser *p, const char *open)
{
  parse_or(p);
  if (p->now.kind == TOKEN_CLOSE || p->now.kind == TOKEN_COMMA) return;
  if (p->now.kind == TOKEN_END)
    fail(p, open, "'(' has no matching ')'");
  else
    fail_at_token(p, "an operator or ')' is expected here");
}

/* Arguments from the ( on. */
static void parse_call(parser *p, const token *name)
{
  const function *f = find_function(name->text);
  const char *open = p->now.start;
  int count = 0, to_second = 0, to_end = 0;
  if (!f) {
    fail(p, name->start, "'%s' is not a known function", name->text);
    suggest(p, name->text, 1);
    return;
  }
  const int is_if = f->operation == POLI_OP_JUMP_UNLESS;
  advance(p);
  if (p->now.kind != TOKEN_CLOSE) do {
      if (is_if && count == 1) to_second = jump(p, POLI_OP_JUMP_UNLESS);
      if (is_if && count == 2) {
        to_end = jump(p, POLI_OP_JUMP);
        land(p, to_second);
      }
      parse_closed(p, open);
      if (++count > 1 && joins_one_by_one(f)) operate(p, f->operation);
    } while (accept(p, TOKEN_COMMA));
  if (count < f->arguments || (count > f->arguments && !joins_one_by_one(f)))
    fail(p, name->start, "'%s' takes %s%d argument%s, not %d", f->name,
         joins_one_by_one(f) ? "at least " : "", f->arguments, f->arguments == 1 ? "" : "s", count);
  if (is_if)
    land(p, to_end);
  else if (!joins_one_by_one(f))
    operate(p, f->operation);
  accept(p, TOKEN_CLOSE);
}

/* A name that is no call: an input, or pi. */
static void parse_input(parser *p, const token *name)
{
  const int input = p->names->lookup(name->text, p->names->user);
  if (input >= 0) {
    push(p, POLI_OP_INPUT, input, 0.0);
  } else if (!name->quoted && strcmp(name->text, "pi") == 0) {
    push(p, POLI_OP_CONSTANT, 0, 3.14159265358979323846);
  } else if (!name->quoted && find_function(name->text)) {
    fail(p, name->start, "'%s' is a function: its arguments must follow in (...)", name->text);
  } else {
    fail(p, name->start, "'%s' is not a known name", name->text);
    suggest(p, name->text, 0);
  }
}

static void parse_primary(parser *p)
{
  const token first = p->now;
  switch (first.kind) {
  case TOKEN_NUMBER:
    advance(p);
    push(p, POLI_OP_CONSTANT, 0, first.number);
    break;
  case TOKEN_NAME:
    advance(p);
    if (p->status) return;
    if (p->now.kind == TOKEN_OPEN && !first.quoted)
      parse_call(p, &first);
    else
      parse_input(p, &first);
    break;
  case TOKEN_OPEN:
    advance(p);
    parse_closed(p, first.start);
    if (p->now.kind == TOKEN_COMMA) fail_at_token(p, "an operator or ')' is expected here");
    accept(p, TOKEN_CLOSE);
    break;
  default:
    fail_at_token(p, "a number, a name, a function or '(' is expected here");
    break;
  }
}

/* Signs, a primary, and perhaps ^ with such an exponent.  Counts the levels of nesting: each cycle
 * of these functions goes through it. */
static void parse_power(parser *p)
{
  int minus = 0; /* of all signs together */
  if (++p->nesting > POLI_EXPRESSION_DEPTH)
    fail(p, p->now.start, "is too deeply nested: more than %d levels", POLI_EXPRESSION_DEPTH);
  if (p->status) return;
  for (; p->now.kind == TOKEN_MINUS || p->now.kind == TOKEN_PLUS; advance(p))
    minus ^= p->now.kind == TOKEN_MINUS;
  parse_primary(p);
  if (accept(p, TOKEN_POWER)) {
    parse_power(p);
    operate(p, POLI_OP_POWER);
  }
  if (minus) operate(p, POLI_OP_NEGATE);
  p->nesting--;
}

/* Operands joined from left to right by one of two operators. */
static void parse_chain(parser *p, void (*operand)(parser *), token_kind first,
                        poli_operation if_first, token_kind second, poli_operation if_second)
{
  operand(p);
  while (p->now.kind == first || p->now.kind == second) {
    const poli_operation operation = p->now.kind == first ? if_first : if_second;
    advance(p);
    operand(p);
    operate(p, operation);
  }
}

static void parse_product(parser *p)
{
  parse_chain(p, parse_power, TOKEN_TIMES, POLI_OP_MULTIPLY, TOKEN_OVER, POLI_OP_DIVIDE);
}

static void parse_sum(parser *p)
{
  parse_chain(p, parse_product, TOKEN_PLUS, POLI_OP_ADD, TOKEN_MINUS, POLI_OP_SUBTRACT);
}

static void parse_comparison(parser *p)
{
  parse_sum(p);
  if (p->now.kind < TOKEN_LESS) return;
  const poli_operation operation = (poli_operation)(POLI_OP_LESS + (p->now.kind - TOKEN_LESS));
  advance(p);
  parse_sum(p);
  operate(p, operation);
  if (p->now.kind >= TOKEN_LESS) fail_at_token(p, "comparisons must be joined by 'and'");
}

static void parse_not(parser *p)
{
  int count = 0;
  while (accept(p, TOKEN_NOT)) count++;
  parse_comparison(p);
  if (count > 0) operate(p, count % 2 ? POLI_OP_NOT : POLI_OP_TRUTH);
}

/* a and b: if(a, b != 0, 0) */
static void parse_and(parser *p)
{
  parse_not(p);
  while (accept(p, TOKEN_AND)) {
    const int to_second = jump(p, POLI_OP_JUMP_UNLESS);
    parse_not(p);
    operate(p, POLI_OP_TRUTH);
    const int to_end = jump(p, POLI_OP_JUMP);
    land(p, to_second);
    push(p, POLI_OP_CONSTANT, 0, 0.0);
    land(p, to_end);
  }
}

/* a or b: if(a, 1, b != 0) */
static void parse_or(parser *p)
{
  parse_and(p);
  while (accept(p, TOKEN_OR)) {
    const int to_second = jump(p, POLI_OP_JUMP_UNLESS);
    push(p, POLI_OP_CONSTANT, 0, 1.0);
    const int to_end = jump(p, POLI_OP_JUMP);
    land(p, to_second);
    parse_and(p);
    operate(p, POLI_OP_TRUTH);
    land(p, to_end);
  }
}

/* --- the result ------------------------------------------------------------------------------- */

static int compare_integers(const void *a, const void *b)
{
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/* Lists the inputs that the program uses, ascending, and numbers them so in the program. */
static pol_status number_inputs(pol_expression *e)
{
  int count = 0, distinct = 0;
  e->inputs = malloc((size_t)e->length * sizeof *e->inputs);
  if (!e->inputs) return POL_NO_MEMORY;
  for (int i = 0; i < e->length; i++)
    if (e->code[i].operation == POLI_OP_INPUT) e->inputs[count++] = e->code[i].index;
  qsort(e->inputs, (size_t)count, sizeof *e->inputs, compare_integers);
  for (int i = 0; i < count; i++)
    if (i == 0 || e->inputs[i] != e->inputs[i - 1]) e->inputs[distinct++] = e->inputs[i];
  e->num_inputs = distinct;
  for (int i = 0; i < e->length; i++) {
    if (e->code[i].operation != POLI_OP_INPUT) continue;
    const int *found = bsearch(&e->code[i].index, e->inputs, (size_t)distinct, sizeof *e->inputs,
                               compare_integers);
    e->code[i].index = (int)(found - e->inputs);
  }
  return POL_OK;
}

pol_status poli_expression_compile(pol_expression **expression, const char *text,
                                   const poli_expression_names *names, poli_expression_error *error)
{
  parser p = {.text = text, .at = text, .names = names, .error = error};
  *expression = NULL;
  *error = (poli_expression_error){.column = 0};
  if (strlen(text) > POLI_EXPRESSION_LENGTH) {
    fail(&p, text, "must not be longer than %d characters", POLI_EXPRESSION_LENGTH);
  } else {
    advance(&p);
    if (!p.status && p.now.kind == TOKEN_END) fail(&p, text, "must not be empty");
    parse_or(&p);
    if (p.now.kind == TOKEN_CLOSE)
      fail(&p, p.now.start, "')' has no matching '('");
    else if (p.now.kind != TOKEN_END)
      fail_at_token(&p, "an operator or the end is expected here");
  }
  pol_expression *e = p.status ? NULL : calloc(1, sizeof *e);
  if (!e) {
    free(p.code);
    return p.status ? p.status : POL_NO_MEMORY;
  }
  e->code = p.code;
  e->length = p.length;
  e->depth = p.max_depth;
  const pol_status status = number_inputs(e);
  if (status) poli_expression_free(&e);
  *expression = e;
  return status;
}
