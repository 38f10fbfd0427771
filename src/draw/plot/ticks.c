/* Ranges of axes and their ticks.
 *
 * A linear axis has ticks at n m 10^k with m = 1, 2 or 5 (after P. S. Heckbert: Nice numbers for
 * graph labels, Graphics Gems, 1990).  Labels are calculated from the integer n m, so that they
 * never show round-off.  What all labels share is written once, beside the axis: a power of ten
 * with an exponent divisible by three, and a constant if the range is far smaller than the values.
 */
#include "draw/plot/ticks.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "draw/plot/text.h"

static const double log_largest = 1e307; /* of logarithmic axes with their margin */

/* --- ranges ----------------------------------------------------------------------------------- */

poli_range poli_range_empty(void)
{
  return (poli_range){HUGE_VAL, -HUGE_VAL};
}

int pol_axis_shows(double value, int log)
{
  return fabs(value) <= POLI_PLOT_LARGEST && (!log || value >= 1 / POLI_PLOT_LARGEST);
}

void poli_range_include(poli_range *range, double value)
{
  range->lo = fmin(range->lo, value);
  range->hi = fmax(range->hi, value);
}

void poli_range_finish(poli_range *range, int log, double margin)
{
  if (range->lo > range->hi) {
    *range = log ? (poli_range){1, 10} : (poli_range){0, 1};
    return;
  }
  const double largest = fmax(fabs(range->lo), fabs(range->hi));
  if (log) {
    if (range->hi <= range->lo * (1 + 1e-9)) range->lo /= 2, range->hi *= 2;
    const double factor = pow(10, margin * (log10(range->hi) - log10(range->lo)));
    range->lo = fmax(range->lo / factor, 1 / log_largest);
    range->hi = fmin(range->hi * factor, log_largest);
    return;
  }
  if (range->hi - range->lo <= 8 * DBL_EPSILON * largest) {
    /* a constant: in the middle */
    const double half = largest > 1 / POLI_PLOT_LARGEST ? 0.1 * largest : 1;
    range->lo -= half, range->hi += half;
    return;
  }
  const double extra = margin * (range->hi - range->lo);
  range->lo -= extra, range->hi += extra;
}

/* --- labels ----------------------------------------------------------------------------------- */

void poli_ticks_number(char *text, size_t size, double value, int decimals)
{
  char plain[400];
  snprintf(plain, sizeof plain, "%.*f", decimals, value);
  int minus = plain[0] == '-' && strpbrk(plain, "123456789") != NULL;
  size_t used = (size_t)snprintf(text, size, "%s", minus ? POLI_MINUS : "");
  for (const char *c = plain; *c != '\0' && used + 1 < size; c++) {
    if (*c >= '0' && *c <= '9')
      text[used++] = *c;
    else if (*c != '-' && ((unsigned char)*c & 0xC0) != 0x80)
      text[used++] = '.';
  }
  text[used] = '\0';
}

void poli_ticks_power(char *text, size_t size, int exponent)
{
  snprintf(text, size, "10^%s%d", exponent < 0 ? POLI_MINUS : "",
           exponent < 0 ? -exponent : exponent);
}

/* A constant with so many decimals (negative: not even all digits before the point). */
static void put_constant(char *text, size_t size, double value, int decimals)
{
  char digits[32], power[24];
  const int exponent = (int)floor(log10(fabs(value)));
  if (exponent < 6 && exponent > -4) {
    poli_ticks_number(text, size, value, decimals > 0 ? decimals : 0);
    return;
  }
  poli_ticks_number(digits, sizeof digits, value / pow(10, exponent), exponent + decimals);
  poli_ticks_power(power, sizeof power, exponent);
  snprintf(text, size, "%s" POLI_TIMES "%s", digits, power);
}

/* What the labels of a linear axis share. */
typedef struct shared {
  double constant; /* in units of 10^unit, a whole number */
  int unit;        /* the ticks are whole numbers times 10^unit */
  int exponent;    /* of the power of ten that is left out */
} shared;

/* Writes "x10^-3 + 5435.6", what of it there is. */
static void put_offset(char *text, size_t size, const shared *s, double constant, int decimals)
{
  char power[24] = "", number[POLI_TICK_LABEL] = "";
  text[0] = '\0';
  if (s->exponent != 0) poli_ticks_power(power, sizeof power, s->exponent);
  if (constant != 0) put_constant(number, sizeof number, fabs(constant), decimals);
  const char *sign = constant == 0 ? "" : constant < 0 ? POLI_MINUS " " : "+ ";
  snprintf(text, size, "%s%s%s%s%s", power[0] ? POLI_TIMES : "", power,
           power[0] && number[0] ? " " : "", sign, number);
}

/* Decides what the labels share; unit is that of the step. */
static shared share(poli_range range, int unit, char *offset, size_t size)
{
  shared s = {.unit = unit};
  double largest = fmax(fabs(range.lo), fabs(range.hi));
  const double extent = range.hi - range.lo;
  double constant = 0;
  int coarse = 0;
  if (extent < 2e-4 * largest) {
    /* the multiple of a power of ten at the range's size that is next below */
    coarse = (int)ceil(log10(extent));
    const double whole = floor(range.lo / pow(10, coarse));
    s.constant = whole * pow(10, coarse - unit);
    constant = whole * pow(10, coarse);
    largest = fmax(fabs(range.lo - constant), fabs(range.hi - constant));
  }
  if (largest >= 1e5 || largest < 1e-2) s.exponent = 3 * (int)floor(log10(largest) / 3);
  put_offset(offset, size, &s, constant, -coarse);
  return s;
}

/* --- linear ----------------------------------------------------------------------------------- */

/* The smallest of 1, 2, 5 times a power of ten that is not below the value. */
static double nice_step(double value, int *mantissa, int *unit)
{
  static const int mantissas[] = {1, 2, 5};
  *unit = (int)floor(log10(value));
  for (;; ++*unit)
    for (int i = 0; i < 3; i++)
      if (mantissas[i] * pow(10, *unit) >= value * (1 - 1e-9)) {
        *mantissa = mantissas[i];
        return mantissas[i] * pow(10, *unit);
      }
}

static void linear_ticks(poli_ticks *ticks, poli_range range, int most)
{
  int mantissa, unit;
  const double extent = range.hi - range.lo;
  const double step = nice_step(extent / most, &mantissa, &unit);
  const shared s = share(range, unit, ticks->offset, sizeof ticks->offset);
  const int decimals = s.exponent > unit ? s.exponent - unit : 0;
  const double first = ceil(range.lo / step - 1e-6), last = floor(range.hi / step + 1e-6);
  ticks->count = ticks->num_minor = 0;
  for (double n = first; n <= last && ticks->count < POLI_MAX_TICKS; n++) {
    ticks->at[ticks->count] = n * step;
    const double whole = n * mantissa - s.constant;
    const double value =
        s.exponent > unit ? whole / pow(10, s.exponent - unit) : whole * pow(10, unit - s.exponent);
    poli_ticks_number(ticks->label[ticks->count++], POLI_TICK_LABEL, value, decimals);
  }
}

/* --- logarithmic ------------------------------------------------------------------------------ */

static void add_minor(poli_ticks *ticks, poli_range range, double value)
{
  if (value >= range.lo && value <= range.hi && ticks->num_minor < POLI_MAX_MINOR_TICKS)
    ticks->minor[ticks->num_minor++] = value;
}

static void add_power(poli_ticks *ticks, int exponent)
{
  if (ticks->count == POLI_MAX_TICKS) return;
  ticks->at[ticks->count] = pow(10, exponent);
  poli_ticks_power(ticks->label[ticks->count++], POLI_TICK_LABEL, exponent);
}

/* Two decades or more: ticks at every, or every second, third, ... power of ten. */
static void decade_ticks(poli_ticks *ticks, poli_range range, int first, int last, int most)
{
  static const int steps[] = {1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 40, 50, 100};
  int step = 1;
  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
    step = steps[i];
    if ((last - first) / step + 1 <= most) break;
  }
  for (int n = first - 1; n <= last; n++) {
    if (n >= first && n % step == 0)
      add_power(ticks, n);
    else if (n >= first && step <= 10)
      add_minor(ticks, range, pow(10, n));
    for (int i = 2; step == 1 && i < 10; i++) add_minor(ticks, range, i * pow(10, n));
  }
}

/* 1, 2 or 5 times a power of ten, as a plain number or as a power. */
static void put_fraction(char *text, int mantissa, int exponent, int plain)
{
  char power[24];
  poli_ticks_power(power, sizeof power, exponent);
  if (plain)
    poli_ticks_number(text, POLI_TICK_LABEL, mantissa * pow(10, exponent),
                      exponent < 0 ? -exponent : 0);
  else if (mantissa == 1)
    snprintf(text, POLI_TICK_LABEL, "%s", power);
  else
    snprintf(text, POLI_TICK_LABEL, "%d" POLI_TIMES "%s", mantissa, power);
}

/* About one decade: 1, 2 and 5 times the powers of ten. */
static void fraction_ticks(poli_ticks *ticks, poli_range range, int first, int last)
{
  const int plain = first > -4 && last < 4;
  for (int n = first - 1; n <= last; n++)
    for (int i = 1; i < 10; i++) {
      const double value = i * pow(10, n);
      if (value < range.lo * (1 - 1e-9) || value > range.hi * (1 + 1e-9)) continue;
      if (i == 1 || i == 2 || i == 5) {
        put_fraction(ticks->label[ticks->count], i, n, plain);
        ticks->at[ticks->count++] = value;
      } else {
        add_minor(ticks, range, value);
      }
    }
}

static void log_ticks(poli_ticks *ticks, poli_range range, int most)
{
  const int first = (int)ceil(log10(range.lo) - 1e-9), last = (int)floor(log10(range.hi) + 1e-9);
  ticks->count = ticks->num_minor = 0;
  ticks->offset[0] = '\0';
  if (last - first >= 2 || (last - first == 1 && range.hi / range.lo > 50))
    decade_ticks(ticks, range, first, last, most);
  else
    fraction_ticks(ticks, range, first, last);
  if (ticks->count < 2) linear_ticks(ticks, range, most);
}

void poli_ticks_make(poli_ticks *ticks, poli_range range, int log, double length, double distance,
                     double font_size)
{
  int most = (int)(length / distance);
  if (most > POLI_MAX_TICKS - 2) most = POLI_MAX_TICKS - 2;
  for (most = most < 2 ? 2 : most;; most--) {
    double widest = 0;
    if (log)
      log_ticks(ticks, range, most);
    else
      linear_ticks(ticks, range, most);
    for (int i = 0; i < ticks->count; i++)
      widest = fmax(widest, poli_text_rich_width(ticks->label[i], font_size));
    if (most <= 2 || (ticks->count - 1) * (widest + 0.8 * font_size) <= length) break;
  }
  /* a single tick would tell no scale; steps of a sixth, or up to 2.5 times that, give two */
  for (int more = most + 1; !log && ticks->count < 2 && more <= 3 * most; more++)
    linear_ticks(ticks, range, more);
}
