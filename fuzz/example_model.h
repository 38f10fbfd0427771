/* A small model: a point mass that falls, a turning body in a hinge, an event, a variable. */
#ifndef POLHODE_FUZZ_EXAMPLE_MODEL_H
#define POLHODE_FUZZ_EXAMPLE_MODEL_H

static const char example_model[] =
    "{\"name\": \"example\", \"gravity\": [0, 0, -9.81],\n"
    " \"bodies\": [\n"
    "  {\"name\": \"ball\", \"type\": \"point\", \"mass\": 1, \"position\": [0, 0, 1]},\n"
    "  {\"name\": \"rod\", \"mass\": 2, \"inertia\": [0.1, 0.2, 0.3], \"position\": [0, 0, "
    "-0.5]}],\n"
    " \"joints\": [{\"name\": \"hinge\", \"type\": \"revolute\", \"bodies\": [\"ground\", "
    "\"rod\"],\n"
    "  \"point\": [0, 0, 0], \"axis\": [0, 1, 0]}],\n"
    " \"simulation\": {\"step\": 0.01, \"end\": 0.05}}\n";

#endif
