/* main() of src/cli/main.c, under another name: cmake/PolhodeFuzz.cmake puts this line first in all
 * files of the command.  It may include nothing, for the sake of what these files define. */
int cli_main(int argc, char **argv);
