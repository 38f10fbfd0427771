/* The papers whose tables and figures are repeated. */
#include <stddef.h>

#include "papers/reproduce.h"

static const paper_publication *const papers[] = {
    &paper_arnold2015, //
    &paper_holzinger,  //
    &paper_bruels2010, //
    &paper_kinon2023,  //
    &paper_gavrea2005,
};
enum { NUM_PAPERS = sizeof papers / sizeof papers[0] };

const paper_publication *paper_at(int index)
{
  return index >= 0 && index < NUM_PAPERS ? papers[index] : NULL;
}

const paper_item *paper_item_at(int index, const paper_publication **paper)
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

int paper_item_count(void)
{
  int count = 0;
  for (int i = 0; i < NUM_PAPERS; i++) count += papers[i]->num_items;
  return count;
}

int paper_item_catalogued(void)
{
  int count = 0;
  for (int i = 0; i < NUM_PAPERS; i++) count += papers[i]->catalogued;
  return count;
}
