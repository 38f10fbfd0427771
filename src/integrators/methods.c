/* The table of methods. */
#include <stddef.h>
#include <string.h>

#include "integrators/family.h"
#include "integrators/generalized_alpha.h"

static const pol_method_entry methods[] = {
    {.method = {.name = "geom1",
                .title = "Lie group generalized-alpha, one exponential a step",
                .order = "2; multipliers 1 in the transient after a classical start",
                .conserves = "the constraints of its index; dissipates high frequencies by rho_inf",
                .source = "Bruels/Cardona 2010, Arnold/Cardona/Bruels 2015"},
     .family = &pol_generalized_alpha,
     .variant = &pol_geom1},
    {.method = {.name = "geom2",
                .title = "the same, velocity and correction in two exponentials",
                .order = "2",
                .conserves = "as geom1",
                .source = "Bruels/Cardona 2010"},
     .family = &pol_generalized_alpha,
     .variant = &pol_geom2},
    {.method = {.name = "geom3",
                .title = "the same, velocity, acceleration and correction in three exponentials",
                .order = "2",
                .conserves = "as geom1",
                .source = "Bruels/Cardona 2010"},
     .family = &pol_generalized_alpha,
     .variant = &pol_geom3},
    {.method = {.name = "linear",
                .title = "classical generalized-alpha on coordinates",
                .order = "2",
                .conserves = "as geom1",
                .source = "Chung/Hulbert 1993, Bruels/Cardona 2010 section 5.2"},
     .family = &pol_generalized_alpha,
     .variant = &pol_linear},
    {.method = {.name = "newmark",
                .title = "Newmark's method, geom1 with alpha_m = alpha_f = 0",
                .order = "2 for gamma = 1/2, else 1",
                .conserves = "as geom1; dissipates for gamma > 1/2",
                .source = "Newmark 1959, Gavrea/Negrut/Potra 2005"},
     .family = &pol_generalized_alpha,
     .variant = &pol_newmark},
    {.method = {.name = "hht",
                .title = "Hilber/Hughes/Taylor, geom1 with alpha_m = 0",
                .order = "2",
                .conserves = "as geom1; dissipates by alpha",
                .source = "Hilber/Hughes/Taylor 1977, Gavrea/Negrut/Potra 2005"},
     .family = &pol_generalized_alpha,
     .variant = &pol_hht},
};

int pol_method_count(void)
{
  return (int)(sizeof methods / sizeof methods[0]);
}

const pol_method *pol_method_at(int index)
{
  return index >= 0 && index < pol_method_count() ? &methods[index].method : NULL;
}

const pol_method_entry *pol_method_entry_find(const char *name)
{
  for (int i = 0; i < pol_method_count(); i++)
    if (strcmp(methods[i].method.name, name) == 0) return &methods[i];
  return NULL;
}

const pol_method *pol_method_find(const char *name)
{
  const pol_method_entry *entry = pol_method_entry_find(name);
  return entry ? &entry->method : NULL;
}
