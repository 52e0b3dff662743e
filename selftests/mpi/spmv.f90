! SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
!
! The sparse matrix of apps.c in Fortran, by the module mpi_f08: conjugate
! gradients, with a vector that all processes gather in each step, and dot
! products that are sums over all. Prints "bits HASH".

program spmv
  use mpi_f08
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  integer, parameter :: n = 1000, steps = 30, far(3) = [1, 7, 31]
  real(real64), allocatable, asynchronous :: p(:), whole(:)
  real(real64), allocatable :: x(:), r(:), q(:)
  real(real64) :: rr, old, alpha
  integer, allocatable :: counts(:), displs(:)
  integer :: rank, procs, first, rows, i, s
  type(MPI_Request) :: req
  integer(int64) :: hash

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, procs)
  allocate (counts(procs), displs(procs))
  displs = [(n * i / procs, i = 0, procs - 1)]
  counts = [(n * (i + 1) / procs - n * i / procs, i = 0, procs - 1)]
  first = displs(rank + 1)
  rows = counts(rank + 1)
  allocate (p(rows), x(rows), r(rows), q(rows), whole(n))
  x = 0
  r = [(modulo(first + i, 10) / 3d0, i = 0, rows - 1)]
  p = r
  rr = dot(r, r)
  do s = 1, steps
    call MPI_Iallgatherv(p, rows, MPI_DOUBLE_PRECISION, whole, counts, displs, &
      MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, req)
    call MPI_Wait(req, MPI_STATUS_IGNORE)
    q = [(row_times(first + i), i = 1, rows)]
    alpha = rr / dot(p, q)
    x = x + alpha * p
    r = r - alpha * q
    old = rr
    rr = dot(r, r)
    p = r + rr / old * p
  end do
  call MPI_Gatherv(x, rows, MPI_DOUBLE_PRECISION, whole, counts, displs, &
    MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD)
  if (rank == 0) then
    hash = 5381
    do i = 1, n
      hash = ieor(ishftc(hash, 7), transfer(whole(i), hash))
    end do
    print '(a, z16.16)', 'bits ', hash
  end if
  call MPI_Finalize()
contains
  function dot(a, b) result(total)
    real(real64), intent(in) :: a(:), b(:)
    real(real64) :: mine, total

    mine = sum(a * b)
    call MPI_Allreduce(mine, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  end function dot

  ! A row of a symmetric matrix that is dominated by its diagonal, times the vector.
  function row_times(row) result(total)
    integer, intent(in) :: row
    real(real64) :: total
    integer :: k

    total = 7.5d0 * whole(row)
    do k = 1, size(far)
      if (row > far(k)) total = total - whole(row - far(k))
      if (row + far(k) <= n) total = total - whole(row + far(k))
    end do
  end function row_times
end program spmv
