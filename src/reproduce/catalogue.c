/* The papers whose tables and figures are repeated. */
#include <stddef.h>

#include "reproduce/reproduce.h"

static const pol_paper *const papers[] = {
    &pol_paper_arnold2015, //
    &pol_paper_holzinger,  //
    &pol_paper_bruels2010, //
    &pol_paper_kinon2023,  //
    &pol_paper_gavrea2005,
};
enum { NUM_PAPERS = sizeof papers / sizeof papers[0] };

const pol_paper *pol_paper_at(int index)
{
  return index >= 0 && index < NUM_PAPERS ? papers[index] : NULL;
}

const pol_item *pol_item_at(int index, const pol_paper **paper)
{
  for (int i = 0; i < NUM_PAPERS; i++) {
    if (index < papers[i]->num_items) {
      if (paper != NULL) *paper = papers[i];
      return &papers[i]->items[index];
    }
    index -= papers[i]->num_items;
  }
  return NULL;
}

int pol_item_count(void)
{
  int count = 0;
  for (int i = 0; i < NUM_PAPERS; i++) count += papers[i]->num_items;
  return count;
}

int pol_item_catalogued(void)
{
  int count = 0;
  for (int i = 0; i < NUM_PAPERS; i++) count += papers[i]->catalogued;
  return count;
}
