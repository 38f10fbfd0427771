# Writes manual pages, which help2man makes of the help texts, and completion scripts.  Without help2man
# there are no manual pages.
#
#   cmake -DPOLHODE=COMMAND -DFOLDER=FOLDER -P PolhodeShellFiles.cmake

# print(FILE ARGUMENT ...): what polhode prints with the arguments goes to the file.
function(print file)
  execute_process(COMMAND ${POLHODE} ${ARGN} OUTPUT_FILE ${FOLDER}/${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY
  ${FOLDER}/man/man1 ${FOLDER}/bash-completion/completions ${FOLDER}/zsh/site-functions)
print(bash-completion/completions/polhode completion bash)
print(zsh/site-functions/_polhode completion zsh)

find_program(HELP2MAN help2man)
if(NOT HELP2MAN)
  return()
endif()
# write_page(NAME SUMMARY HELP): the page polhode.1 or polhode-COMMAND.1.  help2man takes the name of the
# program for that of the page, so the program gets a second name.
function(write_page name summary help)
  set(alias ${FOLDER}/${name})
  file(CREATE_LINK ${POLHODE} ${alias} SYMBOLIC)
  execute_process(COMMAND ${HELP2MAN} --no-info --name ${summary} --help-option ${help}
    --version-string ${VERSION} --manual "polhode manual" --source "polhode ${VERSION}"
    --output ${FOLDER}/man/man1/${name}.1 ${alias} COMMAND_ERROR_IS_FATAL ANY)
  file(REMOVE ${alias})
endfunction()

execute_process(COMMAND ${POLHODE} help --json OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
string(JSON VERSION GET "${help}" version)
write_page(polhode "simulation of constrained multibody systems" --help)
string(JSON last LENGTH "${help}" commands)
math(EXPR last "${last} - 1")
foreach(index RANGE ${last})
  string(JSON name GET "${help}" commands ${index} name)
  string(JSON summary GET "${help}" commands ${index} summary)
  write_page(polhode-${name} ${summary} "${name} --help")
endforeach()
