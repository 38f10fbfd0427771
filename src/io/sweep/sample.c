/* From the number of a run to its values.
 *
 * A Latin hypercube of N runs (McKay, Beckman, Conover 1979) divides the range of each key into N
 * strata and takes a point in each of them once: u = (p_k(i) + r)/N with a random permutation p_k
 * and 0 < r < 1.  The permutation is shuffled from the end (Durstenfeld 1964); the random numbers
 * are SplitMix64 (Steele, Lea, Flood 2014), whose n-th number is a function of n: a value depends
 * on the seed, the key and the run, not on the order in which the runs are computed.
 */
#include "io/sweep/parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errors.h"

const char *pol_sweep_sample_name(pol_sweep_sample sample)
{
  static const char *const names[] = {"grid", "list", "latin-hypercube"};
  const size_t index = (size_t)sample;
  return index < sizeof names / sizeof names[0] ? names[index] : NULL;
}

/* The n-th random number of a stream. */
static uint64_t random_bits(uint64_t stream, uint64_t n)
{
  uint64_t z = stream + (n + 1) * UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}

/* Streams of a key: 0 for its permutation, 1 for the places in the strata. */
static uint64_t stream_of(const pol_sweep *sweep, int key, int which)
{
  return random_bits(random_bits(sweep->seed, 2 * (uint64_t)key + (uint64_t)which), 0);
}

pol_status poli_sweep_make_strata(pol_sweep *sweep)
{
  for (int k = 0; k < sweep->num_keys; k++) {
    const uint64_t stream = stream_of(sweep, k, 0);
    long *order = malloc((size_t)sweep->count * sizeof *order);
    if (!order) return POL_NO_MEMORY;
    sweep->keys[k].strata = order;
    for (long i = 0; i < sweep->count; i++) order[i] = i;
    /* the remainder prefers small numbers by 2^-40 at most */
    for (long i = sweep->count - 1; i > 0; i--) {
      const long other = (long)(random_bits(stream, (uint64_t)i) % ((uint64_t)i + 1));
      const long kept = order[i];
      order[i] = order[other];
      order[other] = kept;
    }
  }
  return POL_OK;
}

double poli_sweep_range(double from, double to, int is_log, double share)
{
  if (share <= 0.0) return from;
  if (share >= 1.0) return to;
  return is_log ? from * pow(to / from, share) : from + share * (to - from);
}

/* The place of a run in the range of a key, 0 .. 1.  With 24 random bits all sums are exact. */
static double share_of(const pol_sweep *sweep, long run, int key)
{
  const uint64_t bits = random_bits(stream_of(sweep, key, 1), (uint64_t)run) >> 40;
  const double inside = ((double)bits + 0.5) / 16777216.0;
  return ((double)sweep->keys[key].strata[run] + inside) / (double)sweep->count;
}

/* Which value of a list a run has. */
static long index_of(const pol_sweep *sweep, long run, int key)
{
  const long count = sweep->keys[key].count;
  if (sweep->sample == POL_SWEEP_LIST) return run;
  if (sweep->sample == POL_SWEEP_LATIN_HYPERCUBE) {
    const long index = (long)(share_of(sweep, run, key) * (double)count);
    return index < count ? index : count - 1;
  }
  /* the last key varies fastest */
  for (int k = sweep->num_keys - 1; k > key; k--) run /= sweep->keys[k].count;
  return run % count;
}

double pol_sweep_number(const pol_sweep *sweep, long run, int key)
{
  const poli_sweep_key *k = &sweep->keys[key];
  if (k->texts) return (double)NAN;
  if (k->numbers) return k->numbers[index_of(sweep, run, key)];
  return poli_sweep_range(k->from, k->to, k->key.is_log, share_of(sweep, run, key));
}

void pol_sweep_text(const pol_sweep *sweep, long run, int key, char *text, size_t size)
{
  const poli_sweep_key *k = &sweep->keys[key];
  if (k->texts)
    snprintf(text, size, "%s", k->texts[index_of(sweep, run, key)]);
  else
    snprintf(text, size, "%.17g", pol_sweep_number(sweep, run, key));
}

char *poli_sweep_override(const pol_sweep *sweep, long run, int key, long value)
{
  const poli_sweep_key *k = &sweep->keys[key];
  double number;
  if (k->texts)
    return poli_format("%s=%s", k->key.path,
                       k->texts[value < 0 ? index_of(sweep, run, key) : value]);
  if (value < 0)
    number = pol_sweep_number(sweep, run, key);
  else
    number = k->numbers ? k->numbers[value] : value ? k->to : k->from;
  return poli_format("%s=%.17g", k->key.path, number);
}
