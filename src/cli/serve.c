/* polhode serve: a page in the browser that follows a model file. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#ifdef POLHODE_MICROHTTPD
#include "cli/server.h"
#endif

#ifdef POLHODE_MICROHTTPD
static int serve(const cli_args *args)
{
  char *end = NULL;
  const long port = args->port != NULL ? strtol(args->port, &end, 10) : -1;
  if (args->port != NULL && (end == args->port || *end != '\0' || port < 0 || port > 65535))
    return cli_refuse_one("polhode serve", args->json, "--port", args->port,
                          "must be a whole number from 0 (any free port) to 65535");
  if (args->open && args->no_open)
    return cli_refuse_one("polhode serve", args->json, "--no-open", "", "contradicts --open");
  if (strcmp(args->operand, "-") == 0)
    return cli_refuse_one("polhode serve", args->json, "MODEL.json", "-",
                          "must be a file: it is read again when it changes");
  return cli_server_run(args, (int)port);
}
#else
int cli_follow_begin(const cli_args *args, const pol_model *model)
{
  (void)model;
  return cli_refuse_one("polhode run", args->json, "--watch", "",
                        "is not in this polhode: it was built without libmicrohttpd (Debian: "
                        "libmicrohttpd-dev)");
}

void cli_follow_end(json_t *report)
{
  json_decref(report);
}

static int serve(const cli_args *args)
{
  return cli_refuse_one("polhode serve", args->json, "serve", "",
                        "is not in this polhode: it was built without libmicrohttpd (Debian: "
                        "libmicrohttpd-dev)");
}
#endif

static const cli_option options[] = {
    {"--port", "N", "of the page (default 7654 or the next free one; 0: any free one)", CLI_TEXT,
     offsetof(cli_args, port), NULL},
    {"--open", NULL, "open the page in a browser (default: on a desktop, from a terminal)",
     CLI_FLAG, offsetof(cli_args, open), NULL},
    {"--no-open", NULL, "only print the address", CLI_FLAG, offsetof(cli_args, no_open), NULL},
    CLI_RUN_OPTIONS,
    {"--accuracy", NULL, "estimate the error by a second run; default: for runs below a second",
     CLI_FLAG, offsetof(cli_args, accuracy), NULL},
    CLI_JSON_OPTION,
};

#define MODEL "models/examples/hexapod.json"

const cli_command cli_serve = {
    .name = "serve",
    .summary = "show a model in the browser, and run it again when its file changes",
    .operand = "MODEL.json",
    .text = "Serves a page on this computer that simulates the model and shows the motion and\n"
            "plots. It runs again when the model, an included file or a mesh is saved, and\n"
            "when a parameter is moved in the page; a run under way is stopped then. Errors\n"
            "are shown beside their lines of the file, and the last result stays.\n\n"
            "The address is 127.0.0.1 only: other computers cannot reach it. Ctrl-C ends the\n"
            "server. With --json the address is printed as a JSON object.\n\n"
            "Exit status: 0 ended by Ctrl-C or SIGTERM, 1 the server failed, 2 invalid\n"
            "options.",
    .examples = "  polhode serve " MODEL "\n"
                "  polhode serve " MODEL " --param gait=0.5 --no-open\n"
                "  polhode serve " MODEL " --port 0 --end 1",
    .options = options,
    .num_options = sizeof options / sizeof options[0],
    .run = serve,
};
