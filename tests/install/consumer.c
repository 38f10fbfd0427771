/* A program outside of polhode's tree, to prove that an installed polhode can be used. */
#include <stdio.h>
#include <string.h>

#include <polhode/polhode.h>

int main(int argc, char **argv)
{
  if (argc != 2 || strcmp(argv[1], pol_version()) != 0) return 1;
  printf("polhode %s: %s\n", pol_version(), pol_status_text(POL_OK));
  return 0;
}
