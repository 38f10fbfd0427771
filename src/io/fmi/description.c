/* Reads modelDescription.xml (FMI 2.0, section 2.2; FMI 3.0, section 2.4): what an importer for
 * co-simulation needs. */
#include "io/fmi/description.h"

#include <errno.h>
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errors.h"

static pol_status refuse(poli_fmu_description *d, const char *format, ...) POLI_PRINTF(2, 3);
static pol_status refuse(poli_fmu_description *d, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(d->reason, sizeof d->reason, format, arguments);
  va_end(arguments);
  return POL_BAD_ARGUMENT;
}

/* The first element of this name at a node or behind it; NULL for the name: any element. */
static const xmlNode *element_from(const xmlNode *node, const char *name)
{
  while (node && (node->type != XML_ELEMENT_NODE || (name && strcmp((char *)node->name, name))))
    node = node->next;
  return node;
}

static const xmlNode *child(const xmlNode *parent, const char *name)
{
  return parent ? element_from(parent->children, name) : NULL;
}

/* A copy of an attribute, or of a text where it is missing (NULL: none); 0 without memory. */
static int take_text(const xmlNode *element, const char *name, const char *otherwise, char **copy)
{
  xmlChar *text = xmlGetNoNsProp(element, (const xmlChar *)name);
  if (!text && xmlHasProp(element, (const xmlChar *)name)) return 0;
  if (text || otherwise) *copy = poli_format("%s", text ? (char *)text : otherwise);
  const int good = *copy != NULL || !(text || otherwise);
  xmlFree(text);
  return good;
}

static int is_true(const xmlNode *element, const char *name)
{
  xmlChar *text = xmlGetNoNsProp(element, (const xmlChar *)name);
  const int yes = text && (!strcmp((char *)text, "true") || !strcmp((char *)text, "1"));
  xmlFree(text);
  return yes;
}

static int has_value(const xmlNode *element, const char *name, const char *value)
{
  xmlChar *text = xmlGetNoNsProp(element, (const xmlChar *)name);
  const int same = text && strcmp((char *)text, value) == 0;
  xmlFree(text);
  return same;
}

static poli_fmu_type type_of(const char *name, int version)
{
  static const struct {
    const char *name;
    poli_fmu_type type;
  } types[2][11] = {{{"Real", POLI_FMU_FLOAT64},
                     {"Integer", POLI_FMU_INT32},
                     {"Enumeration", POLI_FMU_INT32},
                     {"Boolean", POLI_FMU_BOOLEAN}},
                    {{"Float64", POLI_FMU_FLOAT64},
                     {"Int32", POLI_FMU_INT32},
                     {"Boolean", POLI_FMU_BOOLEAN},
                     {"Float32", POLI_FMU_FLOAT32},
                     {"Int8", POLI_FMU_INT8},
                     {"UInt8", POLI_FMU_UINT8},
                     {"Int16", POLI_FMU_INT16},
                     {"UInt16", POLI_FMU_UINT16},
                     {"UInt32", POLI_FMU_UINT32},
                     {"Int64", POLI_FMU_INT64},
                     {"UInt64", POLI_FMU_UINT64}}};
  for (int i = 0; i < 11 && types[version - 2][i].name; i++)
    if (strcmp(types[version - 2][i].name, name) == 0) return types[version - 2][i].type;
  return version == 3 && strcmp(name, "Enumeration") == 0 ? POLI_FMU_INT64 : POLI_FMU_NO_NUMBER;
}

/* Whether the start value may be set: that of an input or a parameter, or one that the FMU starts
 * from, which is what "initial" says (FMI 2.0, section 2.2.7). */
static int can_start(const xmlNode *element, const char *causality)
{
  if (has_value(element, "variability", "constant")) return 0;
  if (strcmp(causality, "input") == 0 || strcmp(causality, "parameter") == 0) return 1;
  return has_value(element, "initial", "exact") || has_value(element, "initial", "approx");
}

static pol_status read_variable(poli_fmu_description *d, const xmlNode *element)
{
  poli_fmu_variable *v = &d->variables[d->count++];
  /* in FMI 2.0 the type is an element inside */
  const xmlNode *type = d->version == 2 ? element_from(element->children, NULL) : element;
  while (type && d->version == 2 && strcmp((char *)type->name, "Annotations") == 0)
    type = element_from(type->next, NULL);
  xmlChar *text = xmlGetNoNsProp(element, (const xmlChar *)"valueReference");
  char *end = NULL;
  errno = 0;
  const unsigned long reference = text ? strtoul((char *)text, &end, 10) : 0;
  const int is_number = end && end != (char *)text && *end == '\0' && errno == 0 &&
                        text[0] != '-' && reference <= UINT_MAX;
  xmlFree(text);
  v->reference = (unsigned int)reference;
  v->type_name = poli_format("%s", type ? (const char *)type->name : "");
  if (!take_text(element, "name", "", &v->name) || !v->type_name ||
      !take_text(element, "causality", "local", &v->causality))
    return POL_NO_MEMORY;
  if (!v->name[0] || !is_number)
    return refuse(d, "variable '%.80s' has no name or valueReference", v->name);
  v->type = type_of(v->type_name, d->version);
  v->can_start = can_start(element, v->causality);
  v->is_array = d->version == 3 && child(element, "Dimension") != NULL;
  return POL_OK;
}

static pol_status read_variables(poli_fmu_description *d, const xmlNode *list)
{
  size_t count = 0;
  pol_status status = POL_OK;
  const char *only = d->version == 2 ? "ScalarVariable" : NULL;
  for (const xmlNode *e = child(list, only); e; e = element_from(e->next, only)) count++;
  if (count > INT_MAX) return refuse(d, "it has too many variables");
  d->variables = calloc(count + 1, sizeof *d->variables);
  if (!d->variables) return POL_NO_MEMORY;
  for (const xmlNode *e = child(list, only); e && !status; e = element_from(e->next, only))
    status = read_variable(d, e);
  return status;
}

static pol_status read_top(poli_fmu_description *d, const xmlNode *top)
{
  if (!top || strcmp((char *)top->name, "fmiModelDescription") != 0)
    return refuse(d, "its description is not that of an FMU");
  char *version = NULL;
  if (!take_text(top, "fmiVersion", "", &version)) return POL_NO_MEMORY;
  if (strcmp(version, "2.0") == 0) d->version = 2;
  if (strncmp(version, "3.", 2) == 0 && version[2] >= '0' && version[2] <= '9') d->version = 3;
  if (!d->version) refuse(d, "its version of FMI is '%.20s', not 2.0 or 3.0", version);
  free(version);
  if (!d->version) return POL_BAD_ARGUMENT;
  const xmlNode *kind = child(top, "CoSimulation");
  if (!kind)
    return refuse(d, "it is not for co-simulation but for %s only",
                  child(top, "ModelExchange")        ? "model exchange"
                  : child(top, "ScheduledExecution") ? "scheduled execution"
                                                     : "no known purpose");
  if (!take_text(top, d->version == 2 ? "guid" : "instantiationToken", "", &d->token) ||
      !take_text(kind, "modelIdentifier", "", &d->identifier))
    return POL_NO_MEMORY;
  if (!d->identifier[0] || strchr(d->identifier, '/') || !d->token[0])
    return refuse(d, "its description has no valid %s",
                  !d->token[0] ? d->version == 2 ? "guid" : "instantiationToken"
                               : "modelIdentifier");
  d->once = is_true(kind, "canBeInstantiatedOnlyOncePerProcess");
  d->needs_tool = is_true(kind, "needsExecutionTool");
  d->get_state = is_true(kind, d->version == 2 ? "canGetAndSetFMUstate" : "canGetAndSetFMUState");
  d->serialize_state =
      is_true(kind, d->version == 2 ? "canSerializeFMUstate" : "canSerializeFMUState");
  return read_variables(d, child(top, "ModelVariables"));
}

pol_status poli_fmu_read_description(poli_fmu_description *d, const char *text, size_t size)
{
  xmlParserCtxtPtr parser = size <= INT_MAX ? xmlNewParserCtxt() : NULL;
  if (!parser) return POL_NO_MEMORY;
  xmlDocPtr document = xmlCtxtReadMemory(parser, text, (int)size, NULL, NULL,
                                         XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING |
                                             XML_PARSE_BIG_LINES);
  const xmlErrorPtr wrong = xmlCtxtGetLastError(parser);
  pol_status status = POL_OK;
  if (!document && wrong && wrong->code == XML_ERR_NO_MEMORY)
    status = POL_NO_MEMORY;
  else if (!document)
    status = refuse(d, "its modelDescription.xml is no valid XML: line %d: %.*s",
                    wrong ? wrong->line : 1,
                    wrong && wrong->message ? (int)strcspn(wrong->message, "\n") : 0,
                    wrong && wrong->message ? wrong->message : "");
  else if (document->intSubset || document->extSubset)
    status = refuse(d, "its modelDescription.xml has a document type declaration (<!DOCTYPE>)");
  else
    status = read_top(d, xmlDocGetRootElement(document));
  xmlFreeDoc(document);
  xmlFreeParserCtxt(parser);
  return status;
}

void poli_fmu_description_free(poli_fmu_description *d)
{
  for (int i = 0; i < d->count; i++) {
    free(d->variables[i].name);
    free(d->variables[i].type_name);
    free(d->variables[i].causality);
  }
  free(d->variables);
  free(d->token);
  free(d->identifier);
  *d = (poli_fmu_description){0};
}

int poli_fmu_find(const poli_fmu_description *d, const char *name)
{
  for (int i = 0; i < d->count; i++)
    if (strcmp(d->variables[i].name, name) == 0) return i;
  return -1;
}
