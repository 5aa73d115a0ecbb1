// Always the first legal action.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

type message struct {
	Type  string   `json:"type"`
	ID    int64    `json:"id"`
	Legal []string `json:"legal"`
}

func main() {
	input := bufio.NewReader(os.Stdin)
	for {
		line, err := input.ReadBytes('\n')
		if err != nil {
			return
		}
		var one message
		if json.Unmarshal(line, &one) != nil {
			return
		}
		if one.Type == "hello" {
			fmt.Println(`{"type": "ready", "protocol": 1}`)
		} else if one.ID != 0 {
			fmt.Printf("{\"id\": %d, \"action\": %q}\n", one.ID, one.Legal[0])
		}
	}
}
