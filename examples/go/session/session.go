// Package session holds a live network of longfat: a client of `longfat session`.
//
// It is all that a Go program needs: JSON-RPC 2.0, one message a line.
package session

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// Params are the parameters of a call, by name; see `longfat schema session`.
type Params map[string]any

// Completed is a command that has ended.
type Completed struct {
	ReturnCode int     `json:"returncode"`
	Stdout     string  `json:"stdout"`
	Stderr     string  `json:"stderr"`
	TookS      float64 `json:"took_s"`
}

// Error is why a call could not be done.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    struct {
		Kind  string `json:"kind"`
		Where string `json:"where"`
	} `json:"data"`
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s %s: %s", e.Data.Kind, e.Data.Where, e.Message)
}

type request struct {
	Version string `json:"jsonrpc"`
	ID      int    `json:"id"`
	Method  string `json:"method"`
	Params  Params `json:"params,omitempty"`
}

type message struct {
	ID     *int            `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *Error          `json:"error"`
}

// Session is a live network in a machine of its own.
type Session struct {
	command *exec.Cmd
	input   io.WriteCloser
	output  *bufio.Reader
	last    int
}

// Start boots a machine. The arguments are those of `longfat session`; the program is the one that
// the variable LONGFAT names, or `longfat`.
func Start(arguments ...string) (*Session, error) {
	program := os.Getenv("LONGFAT")
	if program == "" {
		program = "longfat"
	}
	command := exec.Command(program, append([]string{"session"}, arguments...)...)
	command.Stderr = os.Stderr
	input, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	session := &Session{command: command, input: input, output: bufio.NewReader(output)}
	if _, err := session.read(); err != nil { // the message "ready"
		return nil, fmt.Errorf("no machine: %w", err)
	}
	return session, nil
}

// Call makes a call, waits for its answer, and stores the result unless it is nil.
func (s *Session) Call(method string, params Params, result any) error {
	s.last++
	line, err := json.Marshal(request{Version: "2.0", ID: s.last, Method: method, Params: params})
	if err != nil {
		return err
	}
	if _, err := s.input.Write(append(line, '\n')); err != nil {
		return err
	}
	for {
		answer, err := s.read()
		switch {
		case err != nil:
			return err
		case answer.Method != "": // such as "output"
			continue
		case answer.Error != nil:
			return fmt.Errorf("%s: %w", method, answer.Error)
		case result == nil:
			return nil
		}
		return json.Unmarshal(answer.Result, result)
	}
}

// Close ends the machine.
func (s *Session) Close() error {
	s.input.Close()
	return s.command.Wait()
}

func (s *Session) read() (*message, error) {
	line, err := s.output.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	found := &message{}
	return found, json.Unmarshal(line, found)
}
