module roundtrip

go 1.19
