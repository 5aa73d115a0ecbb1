#!/bin/sh
# Always the first legal action.
while read -r line; do
  case $line in
    *'"hello"'*) echo '{"type": "ready", "protocol": 1}' ;;
    *'"id":'*)
      id=${line#*\"id\":}
      action=${line#*\"legal\":[}
      echo "{\"id\": ${id%%[,\}]*}, \"action\": ${action%%[],]*}}"
      ;;
  esac
done
