module poise

go 1.26.0

require (
	go.yaml.in/yaml/v3 v3.0.5
	golang.org/x/image v0.47.0
	golang.org/x/sys v0.49.0
)

require golang.org/x/text v0.43.0 // indirect
