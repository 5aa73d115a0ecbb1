// Reads lines into the generated types and writes them again; each line says who reads it, as a transcript does.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

func answer(question Act) Answer {
	return Answer{ID: question.ID, Action: question.Legal[0], Note: "the first that is allowed"}
}

// The type to read a message into, which its field `type` tells; an answer has none.
func room(kind string) any {
	switch kind {
	case "hello":
		return &Hello{}
	case "start":
		return &Start{}
	case "act":
		return &Act{}
	case "end":
		return &End{}
	case "fault":
		return &Fault{}
	case "quit":
		return &Quit{}
	case "ready":
		return &Ready{}
	}
	return &Answer{}
}

func again(line []byte) ([]byte, error) {
	var told struct {
		Line json.RawMessage `json:"line"`
	}
	if err := json.Unmarshal(line, &told); err != nil {
		return nil, err
	}
	var kind struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(told.Line, &kind); err != nil {
		return nil, err
	}
	message := room(kind.Type)
	if err := json.Unmarshal(told.Line, message); err != nil {
		return nil, err
	}
	if question, is := message.(*Act); is && answer(*question).ID != question.ID {
		return nil, fmt.Errorf("the answer has another id")
	}
	return json.Marshal(message)
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if text, err := again(lines.Bytes()); err != nil {
			fmt.Printf("refused: %v\n", err)
		} else {
			fmt.Printf("%s\n", text)
		}
	}
}
