/* The tables of keys are sound: every key, type and default that a field names exists, and what a
 * reader writes fits into the struct. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "io/model/parts.h"

static void assert_key(const poli_kind *kind, const poli_field *field, const char *key)
{
  if (key && (!poli_find_field(kind->fields, key) || strcmp(key, field->key) == 0))
    fail_msg("%s: %s names the key \"%s\"", kind->name, field->key, key);
}

static void check_field(const poli_kind *kind, const poli_field *field)
{
  unsigned types = 0;
  for (int i = 0; poli_type_name(kind, i); i++) {
    assert_true(i < POLI_MAX_TYPES);
    types |= POLI_TYPE(i);
  }
  assert_ptr_equal(poli_find_field(kind->fields, field->key), field); /* no key stands twice */
  assert_non_null(field->value->read);
  assert_non_null(poli_rule(field)); /* at least "" */
  assert_non_null(field->value->words);
  if (field->offset + field->value->size > kind->size)
    fail_msg("%s: %s does not fit", kind->name, field->key);
  assert_key(kind, field, field->instead);
  assert_key(kind, field, field->needed_by);
  assert_key(kind, field, field->not_beside);
  assert_key(kind, field, field->only_with);

  /* Types that need the key have it; masks name types that exist. */
  if (field->types && field->required != POLI_ALWAYS && (field->required & types) & ~field->types)
    fail_msg("%s: %s is required for types that do not have it", kind->name, field->key);
  if (field->types && !(field->types & types))
    fail_msg("%s: no type has %s", kind->name, field->key);
}

static int check_kind(const poli_kind *kind, const poli_kind **seen, int count)
{
  for (int i = 0; i < count; i++)
    if (seen[i] == kind) return count;
  seen[count++] = kind;
  assert_true(count < 60);
  assert_non_null(kind->rule);
  for (const poli_field *field = kind->fields; field->key; field++) {
    const poli_kind *inner = field->value->detail == POLI_KIND ? field->detail : field->value->kind;
    check_field(kind, field);
    if (inner) count = check_kind(inner, seen, count);
  }
  return count;
}

static void tables_are_sound(void **state)
{
  const poli_kind *seen[64];
  (void)state;
  assert_true(check_kind(&poli_model_kind, seen, 0) >= 18);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tables_are_sound),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
