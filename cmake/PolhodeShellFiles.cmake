# Writes what the polhode command says about itself: manual pages and completion scripts.
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
print(man/man1/polhode.1 man)

# One page a command.
execute_process(COMMAND ${POLHODE} help --json OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
string(JSON last LENGTH "${help}" commands)
math(EXPR last "${last} - 1")
foreach(index RANGE ${last})
  string(JSON name GET "${help}" commands ${index} name)
  print(man/man1/polhode-${name}.1 man ${name})
endforeach()
