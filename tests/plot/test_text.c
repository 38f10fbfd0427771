/* Text of figures: shortening, raised digits, valid UTF-8, XML. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "draw/plot/text.h"

static void long_text_loses_its_middle(void **state)
{
  (void)state;
  char text[POLI_TEXT_SIZE(9)];
  poli_text_shorten("short", 9, text);
  assert_string_equal(text, "short");
  poli_text_shorten("top.position.x", 9, text);
  assert_string_equal(text, "top.po\xE2\x80\xA6.x");
  /* characters, not bytes */
  poli_text_shorten("\xC3\xA4\xC3\xB6\xC3\xBC\xC3\x9F", 4, text);
  assert_string_equal(text, "\xC3\xA4\xC3\xB6\xC3\xBC\xC3\x9F");
}

static void text_fits_a_width(void **state)
{
  (void)state;
  char text[POLI_TEXT_SIZE(40)];
  poli_text_fit("a.rather.long.name.of.a.channel", 80, 11, 40, text);
  assert_true(poli_text_width(text, 11) <= 80);
  assert_non_null(strstr(text, "\xE2\x80\xA6"));
  poli_text_fit("abc", 1, 11, 40, text); /* three characters always stay */
  assert_string_equal(text, "abc");
}

/* The pieces as "flat|^raised|flat". */
static const char *pieces(const char *text)
{
  static char result[200];
  size_t used = 0, skip, length;
  int raised;
  while ((length = poli_text_piece(text, &raised, &skip)) > 0) {
    if (used > 0) result[used++] = '|';
    if (raised) result[used++] = '^';
    memcpy(result + used, text + skip, length);
    used += length;
    text += skip + length;
  }
  result[used] = '\0';
  return result;
}

static void digits_after_a_caret_are_raised(void **state)
{
  (void)state;
  assert_string_equal(pieces("m/s^2"), "m/s|^2");
  assert_string_equal(pieces("10^-12 m"), "10|^-12| m");
  assert_string_equal(pieces("10^" POLI_MINUS "3"), "10|^" POLI_MINUS "3");
  assert_string_equal(pieces("kg m^2/s^3"), "kg m|^2|/s|^3");
  assert_string_equal(pieces("a^b ^ ^-"), "a^b ^ ^-");
  assert_string_equal(pieces(""), "");
  assert_true(poli_text_rich_width("10^3", 10) < poli_text_width("1003", 10));
}

static void text_becomes_valid(void **state)
{
  (void)state;
  char text[64];
  poli_text_clean("a\xFFz\xC3", text, sizeof text); /* no UTF-8, and a cut character */
  assert_string_equal(text, "a?z?");
  poli_text_clean("\xED\xA0\x80\xC0\x80", text, sizeof text); /* a surrogate, an overlong form */
  assert_string_equal(text, "?????");
  poli_text_clean("one\ntwo\x01\x7F", text, sizeof text);
  assert_string_equal(text, "one two  ");
  poli_text_clean("-1 10^-3 \xE2\x82\xAC", text, sizeof text);
  assert_string_equal(text, "-1 10^" POLI_MINUS "3 \xE2\x82\xAC");
  poli_text_clean("12345\xE2\x82\xAC", text, 8); /* no part of a character at the end */
  assert_string_equal(text, "12345");
}

/* The first and the last characters of each length, and what is next to them (RFC 3629). */
static void characters_end_where_unicode_does(void **state)
{
  (void)state;
  static const char *const good[] = {"\xC2\x80",         "\xDF\xBF",        "\xE0\xA0\x80",
                                     "\xE0\xBF\xBF",     "\xED\x9F\xBF",    "\xEF\xBF\xBD",
                                     "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"};
  static const char *const wrong[] = {"\xC1\xBF",         "\xE0\x9F\xBF",    "\xED\xA0\x80",
                                      "\xEF\xBF\xBE",     "\xEF\xBF\xBF",    "\xF0\x8F\xBF\xBF",
                                      "\xF4\x90\x80\x80", "\xF5\x80\x80\x80"};
  char text[64];
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    poli_text_clean(good[i], text, sizeof text);
    assert_string_equal(text, good[i]);
  }
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    poli_text_clean(wrong[i], text, sizeof text);
    assert_int_equal(strlen(text), strlen(wrong[i]));
    assert_int_equal(strspn(text, "?"), strlen(text));
  }
}

static void xml_characters_have_entities(void **state)
{
  (void)state;
  assert_string_equal(poli_text_entity('<'), "&lt;");
  assert_string_equal(poli_text_entity('>'), "&gt;");
  assert_string_equal(poli_text_entity('&'), "&amp;");
  assert_string_equal(poli_text_entity('\n'), " ");
  assert_null(poli_text_entity('a'));
  assert_null(poli_text_entity('\xE2'));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(long_text_loses_its_middle),
      cmocka_unit_test(text_fits_a_width),
      cmocka_unit_test(digits_after_a_caret_are_raised),
      cmocka_unit_test(text_becomes_valid),
      cmocka_unit_test(characters_end_where_unicode_does),
      cmocka_unit_test(xml_characters_have_entities),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
