# Read by the session's bash at start. Drives it without a prompt: each round fences the terminal's output, reports the
# last exit code into a private FIFO, takes the next command's name from another and sources it, so nothing is typed,
# echoed or recognised by its appearance. The holder writes __hf_dir, __hf_fence and __hf_nonce above these lines; none
# of them is exported.
for __hf_s in /dev/fd/*; do
  # Descriptors that the holder had open must not reach commands; 255 is bash's own.
  __hf_s=${__hf_s##*/}
  ((__hf_s > 2 && __hf_s != 255)) && eval "exec $__hf_s>&-" 2>/dev/null
done
unset HISTFILE
set +o history
shopt -s execfail checkwinsize
PS1= PS2= PROMPT_DIRTRIM=
stty sane -ixon iutf8 2>/dev/null
# The driver finds its programs in the standard folders, if they are there: the session's own PATH may name none.
command -p -v stty >/dev/null && __hf_standard=p
__hf_id=- __hf_n= __hf_flush= __hf_cwd= __hf_tools= __hf_place= __hf_tty= __hf_s=0 __hf_x= __hf_tries=0 __hf_end=0
# Line settings that the session itself chooses are reported to the holder, which restores them after each program that
# left others. `stty sane` chooses the default. Calls that only show settings choose nothing.
stty() {
  builtin command stty "$@" || builtin return
  builtin local word kept=
  for word; do
    case $word in -a | --all | -g | --save | size | speed) builtin return 0 ;; esac
  done
  case $*:$# in
    *:0) builtin return 0 ;;
    sane:1) kept=- ;;
    *) kept=$(builtin command stty -g 2>/dev/null </dev/tty) ;;
  esac
  builtin printf 'T %s\n' "$kept" 2>/dev/null >|"$__hf_dir/up" || builtin :
}
# What the driver itself does is not traced: a `set -x` would show the token of the tools in all commands that follow.
# The exit code is taken in the name of the redirection (which expands to nothing there): it would be lost if the
# redirection failed.
__hf_quiet='{ __hf_x=$-; builtin set +x; } 2>"/dev/null${__hf_dir:0*(__hf_s=$?):0}" || { __hf_x=$-; builtin set +x; }'
# A shell without its driver must end: with the exit code of its command, if that is not reported yet. The redirection
# hides what bash says at an exit; it may fail itself, and with stopped jobs only the second of two attempts ends the shell.
__hf_leave='builtin exit "$__hf_end" 2>/dev/null || builtin exit "$__hf_end" || builtin exit "$__hf_end"'
# After a failure to open a channel: pauses before another try, or ends the shell, whose end is reported from outside.
# Not `read -t`, which would look like a command that waits for input.
__hf_again='if ((++__hf_tries > 5)) || [[ ! -p $__hf_dir/down ]]; then
  builtin printf "%s\n" "holdfast: this shell cannot reach its session and ends; the next command begins in a fresh one." ||
    builtin :
  builtin eval "$__hf_leave"
fi
(builtin command ${__hf_standard:+"-p"} sleep 1) || builtin :'
# A string, not a function: inside a function, `declare` in a command would be local. The loop ends only when a stopped
# job or a stray `break` leaves it; the eval after it then starts the next one. Ctrl-C in the shell itself leads to a
# prompt, and from there PROMPT_COMMAND leads back; it is set again each time because a command may have changed it, unless
# one made it readonly. After typing, unread input is discarded, and the terminal's settings are those that the session
# chose; only then is the command reported as taken, so that what is typed for it is not discarded too. If scripts may call tools, the stubs come before the user's entries in PYTHONPATH and NODE_PATH, without replacing
# them, and the command `tool` comes after the user's own programs. The last eval names the command in its text: the
# command may unset all variables.
__hf_loop='while builtin :; do
  builtin unset PROMPT_COMMAND 2>/dev/null && PROMPT_COMMAND="$__hf_quiet; builtin eval \"\$__hf_loop\""
  builtin printf %s "$__hf_fence" >|/dev/tty || builtin :
  __hf_tries=0 __hf_end=$__hf_s
  [[ $__hf_id != - ]] || __hf_end=71
  until builtin printf "E %s %s\n" "$__hf_id" "$__hf_s" >|"$__hf_dir/up"; do builtin eval "$__hf_again"; done
  __hf_n= __hf_end=71
  until [[ $__hf_n == "$__hf_nonce" ]]; do
    IFS=" " builtin read -r __hf_id __hf_n __hf_flush __hf_cwd __hf_tools __hf_place __hf_tty \
      <"$__hf_dir/down" ||
      (($? > 128)) || builtin eval "$__hf_again"
  done
  if [[ $__hf_cwd == cwd ]]; then
    builtin . "$__hf_dir/$__hf_id.cwd" || builtin eval "$__hf_leave"
  fi
  if [[ $__hf_tools != - ]]; then
    [[ $__hf_place == new || -z ${__hf_bin-} ]] && builtin . "$__hf_dir/tools"
    builtin export HOLDFAST_TOOL_TOKEN="$__hf_tools"
    [[ ":${PYTHONPATH-}:" == *":$__hf_python:"* ]] ||
      builtin export PYTHONPATH="$__hf_python${PYTHONPATH:+:$PYTHONPATH}"
    [[ ":${NODE_PATH-}:" == *":$__hf_node:"* ]] ||
      builtin export NODE_PATH="$__hf_node${NODE_PATH:+:$NODE_PATH}"
    [[ ":${PATH-}:" == *":$__hf_bin:"* ]] || builtin export PATH="${PATH-}:$__hf_bin"
  fi
  if [[ $__hf_flush == flush ]]; then
    builtin command ${__hf_standard:+"-p"} stty sane -ixon iutf8 -icanon -echo min 0 time 0 </dev/tty || builtin :
    if builtin read -r -t 0 </dev/tty; then
      builtin command ${__hf_standard:+"-p"} stty min 0 time 1 </dev/tty || builtin :
      builtin command ${__hf_standard:+"-p"} cat </dev/tty >/dev/null || builtin :
    fi
    builtin command ${__hf_standard:+"-p"} stty sane -ixon iutf8 </dev/tty || builtin :
    [[ $__hf_tty == - ]] || builtin command ${__hf_standard:+"-p"} stty "$__hf_tty" </dev/tty || builtin :
    # Bash remembers what `command -p` has found; the commands of the session find their own.
    builtin hash -d stty cat 2>/dev/null || builtin :
  fi
  until builtin printf "B %s\n" "$__hf_id" >|"$__hf_dir/up"; do builtin eval "$__hf_again"; done
  builtin eval "[[ \$__hf_x != *x* ]] || builtin set -x; builtin . \"\$__hf_dir/$__hf_id\"
$__hf_quiet
__hf_id=$__hf_id"
done
'"$__hf_quiet"'
builtin eval "$__hf_loop"'
# A command that unsets all variables would leave no driver.
builtin readonly __hf_dir __hf_fence __hf_nonce __hf_standard __hf_quiet __hf_leave __hf_again __hf_loop
PROMPT_COMMAND="$__hf_quiet; builtin eval \"\$__hf_loop\""
