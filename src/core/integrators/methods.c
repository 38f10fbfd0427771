/* The table of methods. */
#include <stddef.h>
#include <string.h>

#include "dae/extension.h"
#include "integrators/alpha.h"
#include "integrators/family.h"
#include "integrators/ggl.h"

static const poli_method_entry methods[] = {
    {.method = {.name = "geom1",
                .title = "Lie group generalized-alpha, one exponential per step",
                .order = "2; multipliers 1 in the transient after a classical start",
                .conserves = "the constraints of its index; dissipates high frequencies by rho_inf",
                .source = "Bruels/Cardona 2010, Arnold/Cardona/Bruels 2015",
                .settings = "index rho_inf alpha_m alpha_f beta gamma start sigma"},
     .family = &poli_generalized_alpha,
     .variant = &poli_geom1},
    {.method = {.name = "geom2",
                .title = "the same, velocity and correction in two exponentials",
                .order = "2",
                .conserves = "as geom1",
                .source = "Bruels/Cardona 2010",
                .settings = "index rho_inf alpha_m alpha_f beta gamma start"},
     .family = &poli_generalized_alpha,
     .variant = &poli_geom2},
    {.method = {.name = "geom3",
                .title = "the same, velocity, acceleration and correction in three exponentials",
                .order = "2",
                .conserves = "as geom1",
                .source = "Bruels/Cardona 2010",
                .settings = "index rho_inf alpha_m alpha_f beta gamma start"},
     .family = &poli_generalized_alpha,
     .variant = &poli_geom3},
    {.method = {.name = "linear",
                .title = "classical generalized-alpha on coordinates",
                .order = "2",
                .conserves = "as geom1",
                .source = "Chung/Hulbert 1993, Bruels/Cardona 2010 section 5.2",
                .settings = "index rho_inf alpha_m alpha_f beta gamma start"},
     .family = &poli_generalized_alpha,
     .variant = &poli_linear},
    {.method = {.name = "newmark",
                .title = "Newmark's method, geom1 with alpha_m = alpha_f = 0",
                .order = "2 for gamma = 1/2, else 1",
                .conserves = "as geom1; dissipates for gamma > 1/2",
                .source = "Newmark 1959, Gavrea/Negrut/Potra 2005",
                .settings = "index beta gamma sigma start"},
     .family = &poli_generalized_alpha,
     .variant = &poli_newmark},
    {.method = {.name = "hht",
                .title = "Hilber/Hughes/Taylor, geom1 with alpha_m = 0",
                .order = "2",
                .conserves = "as geom1; dissipates by alpha",
                .source = "Hilber/Hughes/Taylor 1977, Gavrea/Negrut/Potra 2005",
                .settings = "index alpha sigma start"},
     .family = &poli_generalized_alpha,
     .variant = &poli_hht},
    {.method = {.name = "vi-s",
                .title = "variational, semi-explicit: forces at the start of the step",
                .order = "1",
                .conserves = "symplectic form, momentum maps, positions on the constraints",
                .source = "Kinon/Betsch/Schneider 2023 (55)",
                .settings = "guess"},
     .family = &poli_ggl_family,
     .variant = &poli_vi_s},
    {.method = {.name = "vi-a",
                .title = "variational, constraints at the midpoint (theta 1/2)",
                .order = "2; velocity 1",
                .conserves = "symplectic form, momentum maps, midpoints on the constraints",
                .source = "Kinon/Betsch/Schneider 2023 (79)",
                .settings = "theta guess"},
     .family = &poli_ggl_family,
     .variant = &poli_vi_a},
    {.method = {.name = "vi-b",
                .title = "variational, constraints at the grid points (theta, vartheta)",
                .order = "1; 2 in q and p with theta 1/2",
                .conserves = "symplectic form, momentum maps, constraints on both levels",
                .source = "Kinon/Betsch/Schneider 2023 (82)",
                .settings = "theta vartheta guess"},
     .family = &poli_ggl_family,
     .variant = &poli_vi_b},
    {.method = {.name = "em",
                .title = "energy-momentum, constraints on both levels",
                .order = "2; multipliers at the midpoint of the step",
                .conserves = "energy, momentum maps, constraints on both levels",
                .source = "Kinon/Betsch/Schneider 2023 (84)",
                .settings = "guess"},
     .family = &poli_ggl_family,
     .variant = &poli_em},
    {.method = {.name = "em-g",
                .title = "energy-momentum, constraints on position level",
                .order = "2; multipliers at the midpoint of the step",
                .conserves = "energy, momentum maps, constraints on position level",
                .source = "Gonzalez 1999",
                .settings = "guess"},
     .family = &poli_ggl_family,
     .variant = &poli_em_g},
    {.method = {.name = "midpoint",
                .title = "midpoint rule, positions on the constraints",
                .order = "2; multipliers at the midpoint of the step",
                .conserves = "momentum maps, constraints on position level",
                .source = "Hairer/Lubich/Wanner 2006",
                .settings = "guess"},
     .family = &poli_ggl_family,
     .variant = &poli_midpoint},
    {.method = {.name = "rattle",
                .title = "kick and exact free motion of each body, constraints at the grid points",
                .order = "2; in so3xr3 also 4, 6 and 8",
                .conserves = "symplectic form, momentum maps, constraints on both levels",
                .source = "Andersen 1983; orders: Suzuki 1990, Kahan/Li 1997",
                .settings = "guess order"},
     .family = &poli_ggl_family,
     .rigid_family = &poli_splitting,
     .variant = &poli_rattle},
};

const poli_family *poli_method_family(const poli_method_entry *entry, const pol_dae *dae)
{
  return entry->rigid_family && poli_dae_rigid_bodies(dae) ? entry->rigid_family : entry->family;
}

int pol_method_count(void)
{
  return (int)(sizeof methods / sizeof methods[0]);
}

const pol_method *pol_method_at(int index)
{
  return index >= 0 && index < pol_method_count() ? &methods[index].method : NULL;
}

int pol_method_adapts(const char *name)
{
  const poli_method_entry *entry = poli_method_entry_find(name);
  return entry &&
         (entry->family->adaptive || (entry->rigid_family && entry->rigid_family->adaptive));
}

double pol_method_lag(const char *name)
{
  const poli_method_entry *entry = poli_method_entry_find(name);
  return entry && entry->family->lag ? entry->family->lag(entry->variant) : 0.0;
}

const poli_method_entry *poli_method_entry_find(const char *name)
{
  for (int i = 0; i < pol_method_count(); i++)
    if (strcmp(methods[i].method.name, name) == 0) return &methods[i];
  return NULL;
}

const pol_method *pol_method_find(const char *name)
{
  const poli_method_entry *entry = poli_method_entry_find(name);
  return entry ? &entry->method : NULL;
}
