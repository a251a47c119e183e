module longfat.example/lease

go 1.21
