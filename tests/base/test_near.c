/* The search for a near name, against its definition. */
#include "check.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/errors.h"

enum { MOST = 64, NUM_WORDS = 12 };

static int at_most(int a, int b)
{
  return a < b ? a : b;
}

/* Optimal string alignment by the whole table, without short cuts. */
static int distance(const char *a, const char *b)
{
  static int table[MOST + 1][MOST + 1];
  const int n = (int)strlen(a), m = (int)strlen(b);
  for (int i = 0; i <= n; i++) {
    for (int j = 0; j <= m; j++) {
      table[i][j] = i == 0 ? j : i;
      if (i == 0 || j == 0) continue;
      const int differ = tolower(a[i - 1]) != tolower(b[j - 1]);
      table[i][j] =
          at_most(at_most(table[i - 1][j], table[i][j - 1]) + 1, table[i - 1][j - 1] + differ);
      if (i > 1 && j > 1 && tolower(a[i - 1]) == tolower(b[j - 2]) &&
          tolower(a[i - 2]) == tolower(b[j - 1]))
        table[i][j] = at_most(table[i][j], table[i - 2][j - 2] + 1);
    }
  }
  return table[n][m];
}

/* The first of the nearest words; "" if none is near. */
static const char *find(const char *wrong, char words[][MOST + 1])
{
  const char *best = "";
  int least = MOST;
  for (int i = 0; i < NUM_WORDS; i++) {
    const int length = (int)strlen(words[i]), given = (int)strlen(wrong);
    const int shorter = at_most(given, length), longer = given + length - shorter;
    const int is_start =
        given >= 3 && given < length && strncmp(wrong, words[i], (size_t)given) == 0;
    const int slips = is_start ? 1 : distance(wrong, words[i]);
    if (slips > 1 + longer / 4 || slips >= shorter || slips >= least) continue;
    best = words[i];
    least = slips;
  }
  return best;
}

static int pick(uint64_t *seed, int below)
{
  return (int)(0.5 * (random_number(seed) + 1.0) * below);
}

static void put_word(uint64_t *seed, char *word, int most)
{
  const int length = pick(seed, most + 1);
  for (int i = 0; i < length; i++) word[i] = "abAc"[pick(seed, 4)];
  word[length] = '\0';
}

/* Words of a few letters, and changes of the wrong one: some slips, a swap, a longer end. */
static void nearest_is_found(void **state)
{
  (void)state;
  uint64_t seed = 12;
  int found = 0, count = 3000;
  for (int k = 0; k < count; k++) {
    char wrong[MOST + 1], words[NUM_WORDS][MOST + 1];
    put_word(&seed, wrong, k % 5 == 0 ? MOST - 2 : 8);
    for (int i = 0; i < NUM_WORDS; i++) {
      char *word = words[i];
      put_word(&seed, word, 8);
      if (i % 2 == 0) continue;
      strcpy(word, wrong);
      const int length = (int)strlen(word);
      for (int n = pick(&seed, 6); n > 0 && length > 0; n--)
        word[pick(&seed, length)] = "abcA"[pick(&seed, 4)];
      if (i % 4 == 1 && length > 1) {
        const char first = word[0];
        word[0] = word[1];
        word[1] = first;
      }
      if (i % 3 == 0) strcat(word, "ab");
    }
    pol_near near = pol_near_start(wrong);
    for (int i = 0; i < NUM_WORDS; i++) pol_near_try(&near, words[i]);
    const char *expected = find(wrong, words);
    assert_string_equal(near.best, expected);
    found += expected[0] != '\0';
  }
  assert_in_range(found, count / 2, count - count / 20);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nearest_is_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
